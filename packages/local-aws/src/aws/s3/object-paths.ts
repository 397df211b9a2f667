import { join } from 'node:path';

import { AwsError } from '../errors.ts';

/** File systems allow 255 bytes; the rest is for the `@` and the suffix added here. */
const MAX_SEGMENT_BYTES = 240;

const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** Whether `name` is a valid bucket name. No other may reach the file system. */
export const isBucketName = (name: string): boolean => BUCKET_NAME.test(name) && !name.includes('..');

/** Whether an object can have this key here: S3 takes longer segments than a file system takes names. */
export const isStorable = (key: string): boolean =>
  key.split('/').every((segment) => encodeURIComponent(segment.toWellFormed()).length <= MAX_SEGMENT_BYTES);

/**
 * A key's segment as a file name. Escapes what has a meaning to the file system (such as `..` and an empty segment), and `@`, so that an
 * object's file never has the name of a directory. Throws `KeyTooLongError`.
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

/** The path of an object's bytes: `a/b.png` is stored as `a/@b.png`, so the file keeps its extension. */
export const bytesPath = (bucketPath: string, key: string): string => {
  const segments = key.split('/').map(encodeSegment);
  const name = segments.pop() ?? '';
  return join(bucketPath, ...segments, `@${name}`);
};

/** The path of an object's metadata, beside its bytes. */
export const metadataPath = (bytes: string): string => `${bytes}@.json`;

/** The directory that holds every key with this prefix. */
export const prefixDirectory = (bucketPath: string, prefix: string): string =>
  join(bucketPath, ...prefix.split('/').slice(0, -1).map(encodeSegment));

/** The last segment of an object's key, from its file name; undefined for any other file. */
export const objectNameOf = (entry: string): string | undefined =>
  entry.startsWith('@') && !entry.endsWith('@.json') ? decodeSegment(entry.slice(1)) : undefined;

/** The key segment that a directory stands for. */
export const segmentOf = (directory: string): string => decodeSegment(directory);
