import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';

/** Replaces a file atomically and flushes it; readable by its owner only. After a crash it holds the old text or the new one. */
export const replaceFile = (path: string, text: string): void => {
  const aside = `${path}.new`;
  const file = openSync(aside, 'w', 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(aside, path);
};
