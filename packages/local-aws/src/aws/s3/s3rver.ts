import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';

/** An object as s3rver's controllers hand it to a store: `content` is the request, `metadata` the headers worth keeping. */
export interface IncomingObject {
  bucket: string;
  key: string;
  content: Readable;
  metadata: Record<string, string>;
}

/** An object as s3rver's controllers take it from a store; `metadata` becomes response headers. */
export interface OutgoingObject {
  key: string;
  metadata: Record<string, string | number>;
  size: number;
  lastModifiedDate: Date;
  content?: Readable;
  range?: { start: number; end: number };
}

/** What a listing asks for. */
export interface ListOptions {
  delimiter?: string | undefined;
  startAfter?: string | undefined;
  prefix?: string | undefined;
  maxKeys?: number;
}

/** The store interface s3rver's controllers call (as of 3.7; it is not documented). */
export interface S3rverStore {
  getBucket(bucket: string): Promise<{ name: string; creationDate: Date } | null>;
  listBuckets(): Promise<{ name: string; creationDate: Date }[]>;
  putBucket(bucket: string): Promise<unknown>;
  deleteBucket(bucket: string): Promise<void>;
  listObjects(
    bucket: string,
    options: ListOptions,
  ): Promise<{ objects: OutgoingObject[]; commonPrefixes: string[]; isTruncated: boolean }>;
  existsObject(bucket: string, key: string): Promise<boolean>;
  getObject(
    bucket: string,
    key: string,
    options?: { start?: number; end?: number },
  ): Promise<OutgoingObject | null>;
  putObject(object: IncomingObject): Promise<{ md5: string; size: number }>;
  copyObject(
    sourceBucket: string,
    sourceKey: string,
    bucket: string,
    key: string,
    headers: Record<string, string> | null,
  ): Promise<Record<string, string | number>>;
  deleteObject(bucket: string, key: string): Promise<void>;
  initiateUpload(
    bucket: string,
    key: string,
    uploadId: string,
    headers: Record<string, string>,
  ): Promise<void>;
  putPart(
    bucket: string,
    uploadId: string,
    partNumber: string,
    content: Readable,
  ): Promise<{ md5: string; size: number }>;
  putObjectMultipart(
    bucket: string,
    uploadId: string,
    parts: { number: number; etag: string }[],
  ): Promise<{ md5: string; size: number }>;
  getSubresource(bucket: string, key: string | undefined, resource: string): Promise<null>;
}

interface S3rverApp {
  store: S3rverStore;
  context: { store: S3rverStore };
  logger: { close(): void };
  callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  on(event: 'error', listener: (error: Error & { expose?: boolean; code?: string }) => void): void;
}

const require = createRequire(import.meta.url);
const S3rver = require('s3rver') as new (options: Record<string, unknown>) => S3rverApp;
const S3Error = require('s3rver/lib/models/error') as new (
  code: string,
  message: string,
  detail?: Record<string, unknown>,
) => Error & { code: string; status: number };

/** Errors of a client that went away while it was sending or receiving. */
const CLIENT_GONE = /ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE/;

/** Whether this is an error made by `s3Error`. */
export const isS3Error = (error: unknown): error is Error & { code: string; status: number } =>
  error instanceof S3Error;

/** An error s3rver answers in S3's XML shape, with the status S3 gives this code. */
export const s3Error = (code: string, message: string, detail: Record<string, unknown> = {}) =>
  new S3Error(code, message, detail);

/**
 * s3rver's routes and XML over a store of ours, as a request handler: its own store writes under the final key while bytes still arrive,
 * answers before they are on disk, trips over parallel deletes and lists in an order that loses keys between pages.
 */
export const createS3rver = (store: S3rverStore, directory: string) => {
  const app = new S3rver({ directory, silent: true, vhostBuckets: false });
  app.store = store;
  app.context.store = store;
  app.on('error', (error) => {
    if (!error.expose && !CLIENT_GONE.test(`${error.code} ${error.message}`))
      console.error('[aws] s3:', error);
  });
  return { handle: app.callback(), close: () => app.logger.close() };
};
