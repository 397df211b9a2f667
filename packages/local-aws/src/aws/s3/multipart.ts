import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';

import { commitObject, stageBytes, unlessMissing } from './object-file.ts';
import { s3Error } from './s3rver.ts';

/** What an upload becomes when it is completed. */
export interface Upload {
  bucket: string;
  key: string;
  headers: Record<string, string>;
}

interface Part {
  number: number;
  etag: string;
}

/** The upload's directory; s3rver makes the ids, 32 hexadecimal digits, and nothing else may become a path. */
const uploadPath = (uploads: string, uploadId: string): string => {
  if (!/^[0-9a-f]{32}$/.test(uploadId)) throw noSuchUpload();
  return join(uploads, uploadId);
};

const noSuchUpload = () =>
  s3Error(
    'NoSuchUpload',
    'The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.',
  );

/** Begins an upload. */
export const createUpload = async (uploads: string, uploadId: string, upload: Upload): Promise<void> => {
  await mkdir(uploadPath(uploads, uploadId), { recursive: true });
  await writeFile(join(uploadPath(uploads, uploadId), 'upload.json'), JSON.stringify(upload));
};

const readUpload = async (directory: string): Promise<Upload> => {
  const text = await unlessMissing(readFile(join(directory, 'upload.json'), 'utf8'));
  if (text === undefined) throw noSuchUpload();
  return JSON.parse(text);
};

/** Stores a part, replacing an earlier one of the same number. Throws `NoSuchUpload`. */
export const putPart = async (
  uploads: string,
  staging: string,
  uploadId: string,
  partNumber: string,
  content: Readable,
): Promise<{ md5: string; size: number }> => {
  const directory = uploadPath(uploads, uploadId);
  await readUpload(directory);
  const number = Number(partNumber);
  if (!Number.isInteger(number) || number < 1 || number > 10_000) {
    throw s3Error('InvalidArgument', 'Part number must be an integer between 1 and 10000, inclusive');
  }
  const staged = await stageBytes(staging, content);
  await rename(staged.path, join(directory, String(number)));
  await writeFile(join(directory, `${number}.md5`), staged.md5);
  return { md5: staged.md5, size: staged.sizeBytes };
};

async function* readParts(paths: string[]): AsyncGenerator<Buffer> {
  for (const path of paths) yield* createReadStream(path) as AsyncIterable<Buffer>;
}

/** Puts the parts together as one object, under the path `pathOf` gives, and ends the upload. Throws `NoSuchUpload`, `InvalidPart`. */
export const completeUpload = async (
  uploads: string,
  staging: string,
  uploadId: string,
  parts: Part[],
  pathOf: (upload: Upload) => string,
): Promise<{ md5: string; size: number }> => {
  const directory = uploadPath(uploads, uploadId);
  const upload = await readUpload(directory);
  const ordered = [...parts].sort((left, right) => left.number - right.number);
  const digests = createHash('md5');
  for (const { number, etag } of ordered) {
    const md5 = await unlessMissing(readFile(join(directory, `${number}.md5`), 'utf8'));
    if (md5 === undefined || md5 !== etag) {
      throw s3Error('InvalidPart', 'One or more of the specified parts could not be found.');
    }
    digests.update(Buffer.from(md5, 'hex'));
  }
  const paths = ordered.map(({ number }) => join(directory, String(number)));
  const staged = await stageBytes(staging, Readable.from(readParts(paths)));
  // S3's entity tag of a multipart object: the digest of the parts' digests, and how many there were.
  const etag = `${digests.digest('hex')}-${ordered.length}`;
  await commitObject(pathOf(upload), staged, { etag, headers: upload.headers });
  await rm(directory, { recursive: true, force: true });
  return { md5: etag, size: staged.sizeBytes };
};

/** Throws an upload's parts away; false when there is no such upload. */
export const abortUpload = async (uploads: string, uploadId: string): Promise<boolean> => {
  const directory = uploadPath(uploads, uploadId);
  if ((await unlessMissing(stat(directory))) === undefined) return false;
  await rm(directory, { recursive: true, force: true });
  return true;
};
