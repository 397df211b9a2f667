import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, readFile, rename, rmdir, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { systemCodeOf } from '../errors.ts';
import { metadataPath } from './object-paths.ts';

/** Stored beside an object's bytes. `headers` are S3's (content-type, x-amz-meta-…), in lower case. */
export interface ObjectMetadata {
  /** Without quotes. */
  etag: string;
  headers: Record<string, string>;
}

/** A stored object: its metadata, size and modification time. */
export interface FoundObject extends ObjectMetadata {
  sizeBytes: number;
  modifiedAt: Date;
}

/** Bytes in a file of their own, not yet under a key. */
export interface StagedBytes {
  path: string;
  sizeBytes: number;
  md5: string;
}

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(systemCodeOf(error) ?? '');

/** The value; undefined when the file does not exist. */
export const unlessMissing = async <T>(work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

/** Writes a stream to a new file in `directory`. Rejects, leaving no file, when the stream ends early. */
export const stageBytes = async (directory: string, content: Readable): Promise<StagedBytes> => {
  const path = join(directory, randomUUID());
  const hash = createHash('md5');
  let sizeBytes = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      done(null, chunk);
    },
  });
  try {
    await pipeline(content, measure, createWriteStream(path));
  } catch (error) {
    await unlessMissing(unlink(path));
    throw error;
  }
  return { path, sizeBytes, md5: hash.digest('hex') };
};

/**
 * Moves staged bytes to an object's path, replacing the object there. The metadata goes first: an object exists once its bytes are in
 * place, and must never lack metadata. Both moves are renames, so a reader sees the old bytes or the new ones.
 */
export const commitObject = async (
  bytes: string,
  staged: StagedBytes,
  metadata: ObjectMetadata,
): Promise<void> => {
  const stagedMetadata = `${staged.path}.json`;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await mkdir(dirname(bytes), { recursive: true });
      await writeFile(stagedMetadata, JSON.stringify(metadata));
      await rename(stagedMetadata, metadataPath(bytes));
      await rename(staged.path, bytes);
      return;
    } catch (error) {
      // Another call may just have removed the directory with its last object.
      if (!isMissing(error) || attempt === 5) throw error;
    }
  }
};

/** The object at this path; undefined when there is none. */
export const findObject = async (bytes: string): Promise<FoundObject | undefined> => {
  const found = await unlessMissing(stat(bytes));
  if (!found?.isFile()) return undefined;
  const text = await unlessMissing(readFile(metadataPath(bytes), 'utf8'));
  const metadata: ObjectMetadata = text ? JSON.parse(text) : { etag: '', headers: {} };
  return { ...metadata, sizeBytes: found.size, modifiedAt: found.mtime };
};

/** Opens the bytes from `start` to `end`, both included; undefined when the object is gone. */
export const openBytes = async (bytes: string, start: number, end: number): Promise<Readable | undefined> => {
  const handle = await unlessMissing(open(bytes));
  return handle?.createReadStream({ start, end });
};

/** Removes an object, if it exists, and the empty directories it leaves up to `bucketPath`. */
export const removeObject = async (bucketPath: string, bytes: string): Promise<void> => {
  await unlessMissing(unlink(bytes));
  await unlessMissing(unlink(metadataPath(bytes)));
  for (let directory = dirname(bytes); directory !== bucketPath; directory = dirname(directory)) {
    try {
      await rmdir(directory);
    } catch (error) {
      if (!isMissing(error)) return;
    }
  }
};
