import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { AwsError } from '../errors.ts';
import { type KeyPage, listKeys } from './listing.ts';
import { abortUpload, completeUpload, createUpload, type Part, putPart } from './multipart.ts';
import {
  commitObject,
  type FoundObject,
  findObject,
  openBytes,
  removeObject,
  stageBytes,
  unlessMissing,
} from './object-file.ts';
import { bytesPath, isBucketName, isStorable } from './object-paths.ts';

/** Objects on disk. Entity tags are without quotes. */
export interface ObjectStore {
  hasBucket(bucket: string): Promise<boolean>;
  /** Creates the bucket unless it exists. Throws `InvalidBucketName`. */
  createBucket(bucket: string): Promise<void>;
  find(bucket: string, key: string): Promise<FoundObject | undefined>;
  /** Opens the bytes from `first` to `last`, both included; undefined when the object is gone. */
  open(bucket: string, key: string, first: number, last: number): Promise<Readable | undefined>;
  /** Replaces an object once `content` has arrived whole; returns its entity tag. */
  put(bucket: string, key: string, content: Readable, headers: Record<string, string>): Promise<string>;
  /** Deleting an absent object is no error. */
  delete(bucket: string, key: string): Promise<void>;
  list(
    bucket: string,
    options: { prefix: string; delimiter: string; startAfter: string; maxKeys: number },
  ): Promise<KeyPage>;
  /** Returns the upload's id. */
  createUpload(bucket: string, key: string, headers: Record<string, string>): Promise<string>;
  /** Returns the part's entity tag. Throws `NoSuchUpload`, `InvalidArgument`. */
  putPart(uploadId: string, partNumber: number, content: Readable): Promise<string>;
  /** Returns the object's entity tag. Throws `NoSuchUpload`, `InvalidPart`. */
  completeUpload(uploadId: string, parts: Part[]): Promise<string>;
  /** Throws `NoSuchUpload`. */
  abortUpload(uploadId: string): Promise<void>;
}

/**
 * Opens the store under `directory`, one subdirectory per bucket. An upload is written aside and renamed into place when it is whole.
 * Removes the unfinished uploads of a killed process.
 */
export const openObjectStore = async (directory: string): Promise<ObjectStore> => {
  const staging = join(directory, '.staging');
  const uploads = join(directory, '.uploads');
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { recursive: true });
  const bucketPath = (bucket: string) => join(directory, bucket);
  const pathOf = (bucket: string, key: string) => bytesPath(bucketPath(bucket), key);
  /** Buckets that were found: none is ever removed. */
  const found = new Set<string>();
  const findBucket = async (bucket: string): Promise<boolean> => {
    if (!isBucketName(bucket)) return false;
    const isThere = (await unlessMissing(stat(bucketPath(bucket))))?.isDirectory() === true;
    if (isThere) found.add(bucket);
    return isThere;
  };

  return {
    hasBucket: async (bucket) => found.has(bucket) || findBucket(bucket),
    async createBucket(bucket) {
      if (!isBucketName(bucket)) {
        throw new AwsError('InvalidBucketName', 'The specified bucket is not valid.');
      }
      await mkdir(bucketPath(bucket), { recursive: true });
    },
    find: async (bucket, key) => (isStorable(key) ? findObject(pathOf(bucket, key)) : undefined),
    open: async (bucket, key, first, last) =>
      last < first ? Readable.from([]) : openBytes(pathOf(bucket, key), first, last),
    async put(bucket, key, content, headers) {
      const path = pathOf(bucket, key);
      const staged = await stageBytes(staging, content);
      await commitObject(path, staged, { etag: staged.md5, headers });
      return staged.md5;
    },
    delete: async (bucket, key) => removeObject(bucketPath(bucket), pathOf(bucket, key)),
    list: (bucket, options) => listKeys(bucketPath(bucket), options),
    createUpload: (bucket, key, headers) => createUpload(uploads, { bucket, key, headers }),
    putPart: (uploadId, partNumber, content) => putPart({ uploads, staging }, uploadId, partNumber, content),
    completeUpload: (uploadId, parts) =>
      completeUpload({ uploads, staging }, uploadId, parts, ({ bucket, key }) => pathOf(bucket, key)),
    abortUpload: (uploadId) => abortUpload(uploads, uploadId),
  };
};
