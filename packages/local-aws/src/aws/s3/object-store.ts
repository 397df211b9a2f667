import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { decodeAwsChunked } from './aws-chunked.ts';
import { listKeys } from './listing.ts';
import { abortUpload, completeUpload, createUpload, putPart } from './multipart.ts';
import {
  commitObject,
  type FoundObject,
  findObject,
  openBytes,
  removeObject,
  stageBytes,
  unlessMissing,
} from './object-file.ts';
import { bytesPath, isBucketName } from './object-paths.ts';
import { type OutgoingObject, type S3rverStore, s3Error } from './s3rver.ts';

/** Headers S3 keeps with an object, besides `x-amz-meta-*`. */
const KEPT_HEADERS = new Set([
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
]);

/** The object store on disk: what s3rver needs, and what its routes lack. */
export interface ObjectStore extends S3rverStore {
  abortUpload(bucket: string, uploadId: string): Promise<boolean>;
  findObject(bucket: string, key: string): Promise<FoundObject | undefined>;
  listKeys: (
    bucket: string,
    options: { prefix: string; delimiter: string; startAfter: string; maxKeys: number },
  ) => ReturnType<typeof listKeys>;
}

const keptHeaders = (headers: Record<string, string>): Record<string, string> => {
  const kept = Object.entries(headers).filter(
    ([name]) => KEPT_HEADERS.has(name) || name.startsWith('x-amz-meta-'),
  );
  return { 'content-type': 'binary/octet-stream', ...Object.fromEntries(kept) };
};

/** The upload's own bytes: a request that the SDK framed as `aws-chunked` is unframed. */
const bytesOf = (content: Readable): Readable => {
  const headers = 'headers' in content ? (content.headers as Record<string, unknown>) : {};
  if (!String(headers['x-amz-content-sha256'] ?? '').startsWith('STREAMING-')) return content;
  const decoder = decodeAwsChunked();
  content.on('error', (error) => decoder.destroy(error));
  content.on('close', () => content.readableEnded || decoder.destroy(new Error('upload ended early')));
  return content.pipe(decoder);
};

const responseHeaders = (object: FoundObject): Record<string, string | number> => ({
  ...object.headers,
  etag: JSON.stringify(object.etag),
  'last-modified': object.modifiedAt.toUTCString(),
  'content-length': object.sizeBytes,
});

const outgoing = (key: string, object: FoundObject): OutgoingObject => ({
  key,
  metadata: responseHeaders(object),
  size: object.sizeBytes,
  lastModifiedDate: object.modifiedAt,
});

/**
 * Opens the store under `directory`, one sub-directory a bucket. Every upload is written aside and renamed into place when it is whole.
 * What uploads a killed process left unfinished is removed.
 */
export const openObjectStore = async (directory: string): Promise<ObjectStore> => {
  const staging = join(directory, '.staging');
  const uploads = join(directory, '.uploads');
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { recursive: true });
  const bucketPath = (bucket: string) => join(directory, bucket);
  const pathOf = (bucket: string, key: string) => bytesPath(bucketPath(bucket), key);

  const store: ObjectStore = {
    async getBucket(bucket) {
      if (!isBucketName(bucket)) return null;
      const found = await unlessMissing(stat(bucketPath(bucket)));
      return found?.isDirectory() ? { name: bucket, creationDate: found.birthtime } : null;
    },
    async listBuckets() {
      const found = await Promise.all((await readdir(directory)).map((name) => store.getBucket(name)));
      return found.filter((bucket) => bucket !== null);
    },
    async putBucket(bucket) {
      if (!isBucketName(bucket)) throw s3Error('InvalidBucketName', 'The specified bucket is not valid.');
      await mkdir(bucketPath(bucket), { recursive: true });
      return store.getBucket(bucket);
    },
    deleteBucket: (bucket) => rm(bucketPath(bucket), { recursive: true, force: true }),

    findObject: (bucket, key) => findObject(pathOf(bucket, key)),
    existsObject: async (bucket, key) => (await findObject(pathOf(bucket, key))) !== undefined,
    async getObject(bucket, key, options = {}) {
      const bytes = pathOf(bucket, key);
      const object = await findObject(bytes);
      if (!object) return null;
      const found = outgoing(key, object);
      const start = options.start ?? 0;
      const end = Math.min(options.end ?? Number.POSITIVE_INFINITY, object.sizeBytes - 1);
      if (options.start !== undefined) found.range = { start, end };
      // Without content s3rver answers InvalidRange.
      if (found.range && (Number.isNaN(start) || start > end)) return found;
      const content = object.sizeBytes === 0 ? Readable.from([]) : await openBytes(bytes, start, end);
      return content ? { ...found, content } : null;
    },
    async putObject({ bucket, key, content, metadata }) {
      const path = pathOf(bucket, key);
      const staged = await stageBytes(staging, bytesOf(content));
      await commitObject(path, staged, { etag: staged.md5, headers: keptHeaders(metadata) });
      return { md5: staged.md5, size: staged.sizeBytes };
    },
    async copyObject(sourceBucket, sourceKey, bucket, key, headers) {
      const source = await findObject(pathOf(sourceBucket, sourceKey));
      const content =
        source && (await openBytes(pathOf(sourceBucket, sourceKey), 0, Number.POSITIVE_INFINITY));
      if (!source || !content)
        throw s3Error('NoSuchKey', 'The specified key does not exist.', { Key: sourceKey });
      await store.putObject({ bucket, key, content, metadata: headers ?? source.headers });
      const copy = await findObject(pathOf(bucket, key));
      return copy ? responseHeaders(copy) : {};
    },
    deleteObject: (bucket, key) => removeObject(bucketPath(bucket), pathOf(bucket, key)),

    listKeys: (bucket, options) => listKeys(bucketPath(bucket), options),
    async listObjects(bucket, { prefix = '', delimiter = '', startAfter = '', maxKeys = 1_000 }) {
      const page = await store.listKeys(bucket, { prefix, delimiter, startAfter, maxKeys });
      const objects = await Promise.all(
        page.keys.map(async (key) => {
          const object = await findObject(pathOf(bucket, key));
          return object && outgoing(key, object);
        }),
      );
      return { ...page, objects: objects.filter((object) => object !== undefined) };
    },

    initiateUpload: (bucket, key, uploadId, headers) =>
      createUpload(uploads, uploadId, { bucket, key, headers: keptHeaders(headers) }),
    putPart: (_bucket, uploadId, partNumber, content) =>
      putPart(uploads, staging, uploadId, partNumber, bytesOf(content)),
    putObjectMultipart: (bucket, uploadId, parts) =>
      completeUpload(uploads, staging, uploadId, parts, ({ key }) => pathOf(bucket, key)),
    abortUpload: (_bucket, uploadId) => abortUpload(uploads, uploadId),

    getSubresource: async () => null,
  };
  return store;
};
