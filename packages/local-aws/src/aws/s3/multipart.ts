import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';

import { AwsError } from '../errors.ts';
import { commitObject, stageBytes, unlessMissing } from './object-file.ts';

/** The object that an upload becomes when it is completed. */
export interface Upload {
  bucket: string;
  key: string;
  headers: Record<string, string>;
}

/** A part as CompleteMultipartUpload names it; `etag` is without quotes. */
export interface Part {
  number: number;
  etag: string;
}

const noSuchUpload = () =>
  new AwsError(
    'NoSuchUpload',
    'The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.',
    404,
  );

/** The upload's directory. Ids are 32 hexadecimal digits; nothing else may become a path. */
const uploadPath = (uploads: string, uploadId: string): string => {
  if (!/^[0-9a-f]{32}$/.test(uploadId)) throw noSuchUpload();
  return join(uploads, uploadId);
};

/** Begins an upload; returns its id. */
export const createUpload = async (uploads: string, upload: Upload): Promise<string> => {
  const uploadId = randomBytes(16).toString('hex');
  const directory = uploadPath(uploads, uploadId);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'upload.json'), JSON.stringify(upload));
  return uploadId;
};

const readUpload = async (directory: string): Promise<Upload> => {
  const text = await unlessMissing(readFile(join(directory, 'upload.json'), 'utf8'));
  if (text === undefined) throw noSuchUpload();
  return JSON.parse(text);
};

/** Where uploads are kept, and where bytes are written before they are moved to their place. */
export interface UploadDirectories {
  uploads: string;
  staging: string;
}

/** Stores a part, replacing an earlier one of the same number; returns its entity tag. Throws `NoSuchUpload`, `InvalidArgument`. */
export const putPart = async (
  { uploads, staging }: UploadDirectories,
  uploadId: string,
  partNumber: number,
  content: Readable,
): Promise<string> => {
  const directory = uploadPath(uploads, uploadId);
  await readUpload(directory);
  if (!Number.isInteger(partNumber) || partNumber < 1 || partNumber > 10_000) {
    throw new AwsError('InvalidArgument', 'Part number must be an integer between 1 and 10000, inclusive');
  }
  const staged = await stageBytes(staging, content);
  await rename(staged.path, join(directory, String(partNumber)));
  await writeFile(join(directory, `${partNumber}.md5`), staged.md5);
  return staged.md5;
};

async function* readParts(paths: string[]): AsyncGenerator<Buffer> {
  for (const path of paths) yield* createReadStream(path) as AsyncIterable<Buffer>;
}

/** Joins the parts into one object at the path `pathOf` gives, and ends the upload. Throws `NoSuchUpload`, `InvalidPart`. */
export const completeUpload = async (
  { uploads, staging }: UploadDirectories,
  uploadId: string,
  parts: Part[],
  pathOf: (upload: Upload) => string,
): Promise<string> => {
  const directory = uploadPath(uploads, uploadId);
  const upload = await readUpload(directory);
  const ordered = [...parts].sort((left, right) => left.number - right.number);
  const digests = createHash('md5');
  for (const { number, etag } of ordered) {
    const md5 = await unlessMissing(readFile(join(directory, `${number}.md5`), 'utf8'));
    if (md5 === undefined || md5 !== etag) {
      throw new AwsError('InvalidPart', 'One or more of the specified parts could not be found.');
    }
    digests.update(Buffer.from(md5, 'hex'));
  }
  const paths = ordered.map(({ number }) => join(directory, String(number)));
  const staged = await stageBytes(staging, Readable.from(readParts(paths)));
  // S3's entity tag of a multipart object: the digest of the parts' digests, and the number of parts.
  const etag = `${digests.digest('hex')}-${ordered.length}`;
  await commitObject(pathOf(upload), staged, { etag, headers: upload.headers });
  await rm(directory, { recursive: true, force: true });
  return etag;
};

/** Deletes an upload and its parts. Throws `NoSuchUpload`. */
export const abortUpload = async (uploads: string, uploadId: string): Promise<void> => {
  const directory = uploadPath(uploads, uploadId);
  await readUpload(directory);
  await rm(directory, { recursive: true, force: true });
};
