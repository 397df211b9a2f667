import { join } from 'node:path';

import { AwsError } from '../errors.ts';

/** 255 bytes: the longest file name of the usual file systems, less the mark and suffix added here. */
const MAX_SEGMENT_BYTES = 240;

const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** Whether `name` is a bucket name; one that is not must never reach the file system. */
export const isBucketName = (name: string): boolean => BUCKET_NAME.test(name) && !name.includes('..');

/**
 * A key's segment as a file name. Escapes whatever could mean something to the file system (`/` cannot occur, `..` and an empty segment can),
 * and `@`, so that an object's file never has the name of a directory.
 */
const encodeSegment = (segment: string): string => {
  if (segment === '') return '%';
  if (/^\.+$/.test(segment)) return segment.replaceAll('.', '%2E');
  const name = encodeURIComponent(segment);
  if (name.length > MAX_SEGMENT_BYTES)
    throw new AwsError('KeyTooLongError', 'A segment of your key is too long');
  return name;
};

const decodeSegment = (name: string): string => (name === '%' ? '' : decodeURIComponent(name));

/** Where an object's bytes lie: `a/b.png` is `a/@b.png`, so that a file keeps its extension and can be looked at. */
export const bytesPath = (bucketPath: string, key: string): string => {
  const segments = key.split('/').map(encodeSegment);
  const name = segments.pop() ?? '';
  return join(bucketPath, ...segments, `@${name}`);
};

/** Where what is known about an object lies, beside its bytes. */
export const metadataPath = (bytes: string): string => `${bytes}@.json`;

/** The directory every key with this prefix lies in or below. */
export const prefixDirectory = (bucketPath: string, prefix: string): string =>
  join(bucketPath, ...prefix.split('/').slice(0, -1).map(encodeSegment));

/** The key of a directory entry: the object's name, undefined for anything else. */
export const objectNameOf = (entry: string): string | undefined =>
  entry.startsWith('@') && !entry.endsWith('@.json') ? decodeSegment(entry.slice(1)) : undefined;

/** The key segment of a directory. */
export const segmentOf = (directory: string): string => decodeSegment(directory);
