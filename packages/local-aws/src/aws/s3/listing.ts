import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { unlessMissing } from './object-file.ts';
import { objectNameOf, prefixDirectory, segmentOf } from './object-paths.ts';

/** One page of keys in S3's order (UTF-8 bytes). */
export interface KeyPage {
  keys: string[];
  commonPrefixes: string[];
  isTruncated: boolean;
  /** The `startAfter` of the next page. */
  lastName: string | undefined;
}

/** Collects the keys in and below a directory, unordered. `base` is the directory's own part of each key. */
const collectKeys = async (directory: string, base: string, keys: string[]): Promise<void> => {
  const entries = (await unlessMissing(readdir(directory, { withFileTypes: true }))) ?? [];
  for (const entry of entries) {
    if (entry.isDirectory()) {
      await collectKeys(join(directory, entry.name), `${base}${segmentOf(entry.name)}/`, keys);
    } else {
      const name = objectNameOf(entry.name);
      if (name !== undefined) keys.push(base + name);
    }
  }
};

const byBytes = (left: string, right: string): number =>
  Buffer.compare(Buffer.from(left, 'utf8'), Buffer.from(right, 'utf8'));

/**
 * Lists the keys of a bucket that begin with `prefix` and sort after `startAfter`: at most `maxKeys` keys and common prefixes together.
 * Every page reads all directories under the prefix.
 */
export const listKeys = async (
  bucketPath: string,
  options: { prefix: string; delimiter: string; startAfter: string; maxKeys: number },
): Promise<KeyPage> => {
  const { prefix, delimiter, startAfter, maxKeys } = options;
  const found: string[] = [];
  const base = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  await collectKeys(prefixDirectory(bucketPath, prefix), base, found);

  const rolledUp = (key: string): string => {
    const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
    return at < 0 ? key : key.slice(0, at + delimiter.length);
  };
  const matching = found.filter((key) => key.startsWith(prefix));
  const prefixes = new Set(matching.map(rolledUp).filter((name, at) => name !== matching[at]));
  const names = [...new Set(matching.map(rolledUp))]
    .filter((name) => startAfter === '' || byBytes(name, startAfter) > 0)
    .sort(byBytes);
  const page = names.slice(0, maxKeys);
  return {
    keys: page.filter((name) => !prefixes.has(name)),
    commonPrefixes: page.filter((name) => prefixes.has(name)),
    isTruncated: maxKeys > 0 && names.length > page.length,
    lastName: page.at(-1),
  };
};
