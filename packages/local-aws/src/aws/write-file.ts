import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';

/** Replaces a file as a whole, readable by its owner only: a reader, or the next start after a crash, sees the old text or the new one. */
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
