import { chmodSync, mkdirSync } from 'node:fs';

/** Creates a directory when it is absent, and keeps every other user of the machine out of it. */
export const makePrivateDirectory = (path: string): void => {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  // The mode above applies to a new directory only.
  chmodSync(path, 0o700);
};
