import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

import { parseByteRange } from '../../byte-range.ts';
import type { Principal } from '../../types.ts';
import { findRefusal } from '../authorize.ts';
import { AwsError, systemCodeOf } from '../errors.ts';
import { readText } from '../json-protocol.ts';
import { readS3Request, type S3Operation, type S3Request, s3Arn } from '../permissions/s3.ts';
import type { RequestTarget } from '../request-target.ts';
import { deleteObjects, listObjects, partsIn, uploadCompleted, uploadCreated } from './documents.ts';
import type { FoundObject } from './object-file.ts';
import { type ObjectStore, openObjectStore } from './object-store.ts';
import { keptHeaders, uploadBody } from './upload-body.ts';
import { sendXml, sendXmlError } from './xml.ts';

/** The local S3. */
export interface S3Service {
  store: ObjectStore;
  /** Answers one request. Calls `admit` with the operation once the caller is found to be allowed; it may refuse the call. */
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    caller: { principal: Principal; target: RequestTarget; admit: (operation: string) => Promise<void> },
  ): Promise<void>;
}

interface Call extends S3Request {
  request: IncomingMessage;
  response: ServerResponse;
  query: URLSearchParams;
  principal: Principal;
}

/** Codes of errors when a client goes away while it sends or receives. */
const CLIENT_GONE = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE']);

const noSuchKey = () => new AwsError('NoSuchKey', 'The specified key does not exist.', 404);

const quoted = (etag: string) => `"${etag}"`;

const objectHeaders = (object: FoundObject) => ({
  ...object.headers,
  etag: quoted(object.etag),
  'last-modified': object.modifiedAt.toUTCString(),
  'accept-ranges': 'bytes',
});

const getObject = async (store: ObjectStore, { request, response, bucket, key }: Call): Promise<void> => {
  const object = await store.find(bucket, key);
  if (!object) throw noSuchKey();
  const { sizeBytes } = object;
  const range = parseByteRange(request.headers.range, sizeBytes);
  if (range === 'unsatisfiable') {
    throw new AwsError('InvalidRange', 'The requested range is not satisfiable', 416);
  }
  const { first, last } = range ?? { first: 0, last: sizeBytes - 1 };
  const bytes = await store.open(bucket, key, first, last);
  if (!bytes) throw noSuchKey();
  if (response.destroyed) {
    bytes.destroy();
    return;
  }
  response.writeHead(range ? 206 : 200, {
    ...objectHeaders(object),
    'content-length': last - first + 1,
    ...(range && { 'content-range': `bytes ${first}-${last}/${sizeBytes}` }),
  });
  await pipeline(bytes, response);
};

const headObject = async (store: ObjectStore, { response, bucket, key }: Call): Promise<void> => {
  const object = await store.find(bucket, key);
  if (!object) throw noSuchKey();
  response.writeHead(200, { ...objectHeaders(object), 'content-length': object.sizeBytes }).end();
};

const sendEtag = (response: ServerResponse, etag: string): void => {
  response.writeHead(200, { etag: quoted(etag), 'content-length': 0 }).end();
};

const uploadIdOf = ({ query }: Call): string => query.get('uploadId') ?? '';

const OPERATIONS: Record<S3Operation, (store: ObjectStore, call: Call) => Promise<void>> = {
  GetObject: getObject,
  HeadObject: headObject,
  async PutObject(store, { request, response, bucket, key }) {
    sendEtag(response, await store.put(bucket, key, uploadBody(request), keptHeaders(request.headers)));
  },
  async DeleteObject(store, { response, bucket, key }) {
    await store.delete(bucket, key);
    response.writeHead(204).end();
  },
  async DeleteObjects(store, { request, response, bucket, principal }) {
    sendXml(response, 200, await deleteObjects(store, principal, bucket, await readText(request)));
  },
  async ListObjectsV2(store, { response, bucket, query }) {
    sendXml(response, 200, await listObjects(store, bucket, query));
  },
  async CreateMultipartUpload(store, { request, response, bucket, key }) {
    const uploadId = await store.createUpload(bucket, key, keptHeaders(request.headers));
    sendXml(response, 200, uploadCreated(bucket, key, uploadId));
  },
  async UploadPart(store, call) {
    const partNumber = Number(call.query.get('partNumber'));
    sendEtag(call.response, await store.putPart(uploadIdOf(call), partNumber, uploadBody(call.request)));
  },
  async CompleteMultipartUpload(store, call) {
    const etag = await store.completeUpload(uploadIdOf(call), partsIn(await readText(call.request)));
    sendXml(call.response, 200, uploadCompleted(call.bucket, call.key, etag));
  },
  async AbortMultipartUpload(store, call) {
    await store.abortUpload(uploadIdOf(call));
    call.response.writeHead(204).end();
  },
};

/** S3 hides which keys are absent from a caller that may not list the bucket: it answers 403 in place of 404. */
const findHiddenKey = async (store: ObjectStore, { operation, bucket, key, principal }: Call) => {
  if (operation !== 'GetObject' && operation !== 'HeadObject') return undefined;
  const refused = findRefusal(principal, [{ action: 's3:ListBucket', resource: s3Arn(bucket) }]);
  return refused !== undefined && !(await store.find(bucket, key)) ? refused : undefined;
};

/** Opens the local S3 over `directory` and creates the buckets that are missing. */
export const openS3Service = async (directory: string, buckets: string[]): Promise<S3Service> => {
  const store = await openObjectStore(directory);
  for (const bucket of buckets) await store.createBucket(bucket);

  const answer = async (call: Call, admit: (operation: string) => Promise<void>) => {
    const refused = findRefusal(call.principal, call.permissions) ?? (await findHiddenKey(store, call));
    if (refused) throw new AwsError('AccessDenied', refused, 403);
    await admit(call.operation);
    if (call.operation === 'Unknown') {
      const { method, url } = call.request;
      throw new AwsError('NotImplemented', `The local S3 has no ${method} ${url}`, 501);
    }
    if (!(await store.hasBucket(call.bucket))) {
      throw new AwsError('NoSuchBucket', 'The specified bucket does not exist', 404);
    }
    await OPERATIONS[call.operation](store, call);
  };

  return {
    store,
    async handle(request, response, { principal, target, admit }) {
      try {
        const isCopy = request.headers['x-amz-copy-source'] !== undefined;
        const read = readS3Request(request.method ?? 'GET', target, isCopy);
        await answer({ ...read, request, response, principal, query: target.searchParams }, admit);
      } catch (error) {
        if (error instanceof URIError) {
          sendXmlError(response, new AwsError('InvalidURI', "Couldn't parse the specified URI."));
        } else if (CLIENT_GONE.has(systemCodeOf(error) ?? '')) {
          response.destroy();
        } else {
          throw error;
        }
      }
    },
  };
};
