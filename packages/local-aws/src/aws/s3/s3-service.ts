import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Principal } from '../../types.ts';
import { findRefusal } from '../authorize.ts';
import { AwsError } from '../errors.ts';
import { readBody } from '../json-protocol.ts';
import { readS3Request, type S3Request, s3Arn } from '../permissions/s3.ts';
import type { RequestTarget } from '../request-target.ts';
import { type ObjectStore, openObjectStore } from './object-store.ts';
import { createS3rver, isS3Error } from './s3rver.ts';
import { element, elementTexts, escapeXml, sendXml, sendXmlError } from './xml.ts';

/** S3's own limit on one DeleteObjects call. */
const MAX_DELETED_KEYS = 1_000;

/** The local S3. */
export interface S3Service {
  store: ObjectStore;
  /** Answers one request; `admit` is told the operation once the caller was found to be allowed, and may refuse the call. */
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    caller: { principal: Principal; target: RequestTarget; admit: (operation: string) => Promise<void> },
  ): Promise<void>;
  close(): void;
}

/** DeleteObjects. s3rver would take a key that looks like a number for one; and IAM judges each key by itself. */
const deleteObjects = async (
  store: ObjectStore,
  principal: Principal,
  bucket: string,
  body: string,
): Promise<string> => {
  const keys = elementTexts(body, 'Key');
  if (keys.length === 0 || keys.length > MAX_DELETED_KEYS) {
    throw new AwsError('MalformedXML', 'The XML you provided was not well-formed or did not validate.');
  }
  const quiet = elementTexts(body, 'Quiet')[0] === 'true';
  const results = await Promise.all(
    keys.map(async (key) => {
      const refused = findRefusal(principal, [{ action: 's3:DeleteObject', resource: s3Arn(bucket, key) }]);
      if (refused) {
        return `<Error>${element('Key', key)}<Code>AccessDenied</Code>${element('Message', refused)}</Error>`;
      }
      await store.deleteObject(bucket, key);
      return quiet ? '' : `<Deleted>${element('Key', key)}</Deleted>`;
    }),
  );
  return `<DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${results.join('')}</DeleteResult>`;
};

/** ListObjectsV2. s3rver's continuation tokens need DES, which OpenSSL 3 no longer has. */
const listObjects = async (store: ObjectStore, bucket: string, query: URLSearchParams): Promise<string> => {
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const token = query.get('continuation-token');
  const startAfter =
    token === null ? (query.get('start-after') ?? '') : Buffer.from(token, 'base64url').toString();
  const maxKeys = Math.min(Number(query.get('max-keys') ?? 1_000), 1_000);
  if (!Number.isInteger(maxKeys) || maxKeys < 0) {
    throw new AwsError('InvalidArgument', 'Argument maxKeys must be an integer between 0 and 2147483647');
  }
  const encoded = query.get('encoding-type') === 'url';
  const name = (key: string) => (encoded ? encodeURIComponent(key).replaceAll('%2F', '/') : key);

  const page = await store.listKeys(bucket, { prefix, delimiter, startAfter, maxKeys });
  const contents = await Promise.all(
    page.keys.map(async (key) => {
      const object = await store.findObject(bucket, key);
      if (!object) return '';
      const modified = element('LastModified', object.modifiedAt.toISOString());
      const size = element('Size', object.sizeBytes);
      return `<Contents>${element('Key', name(key))}${modified}${element('ETag', `"${object.etag}"`)}${size}<StorageClass>STANDARD</StorageClass></Contents>`;
    }),
  );
  return [
    '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
    element('Name', bucket),
    element('Prefix', name(prefix)),
    delimiter && element('Delimiter', name(delimiter)),
    element('MaxKeys', maxKeys),
    element('KeyCount', page.keys.length + page.commonPrefixes.length),
    encoded ? '<EncodingType>url</EncodingType>' : '',
    element('ContinuationToken', token ?? undefined),
    element('IsTruncated', page.isTruncated),
    page.isTruncated
      ? element('NextContinuationToken', Buffer.from(page.lastName ?? '').toString('base64url'))
      : '',
    ...contents,
    ...page.commonPrefixes.map(
      (one) => `<CommonPrefixes><Prefix>${escapeXml(name(one))}</Prefix></CommonPrefixes>`,
    ),
    '</ListBucketResult>',
  ].join('');
};

/** Makes the headers such as s3rver understands them: no signature to check, no suffix range, no upload framing to keep as encoding. */
const adaptHeaders = async (store: ObjectStore, request: IncomingMessage, { bucket, key }: S3Request) => {
  const { headers } = request;
  delete headers.authorization;
  const suffix = /^bytes=-(\d+)$/.exec(headers.range ?? '')?.[1];
  if (suffix !== undefined) {
    const size = (await store.findObject(bucket, key))?.sizeBytes ?? 0;
    headers.range = `bytes=${Math.max(0, size - Number(suffix))}-`;
  }
  if (headers['content-encoding']?.includes('aws-chunked')) {
    const rest = headers['content-encoding'].split(',').filter((one) => one.trim() !== 'aws-chunked');
    if (rest.length > 0) headers['content-encoding'] = rest.join(',');
    else delete headers['content-encoding'];
  }
};

/** Opens the local S3 over `directory` and makes the buckets that are not there. */
export const openS3Service = async (directory: string, buckets: string[]): Promise<S3Service> => {
  const store = await openObjectStore(directory);
  for (const bucket of buckets) await store.putBucket(bucket);
  const s3rver = createS3rver(store, directory);

  /** S3 tells a caller that may not list the bucket nothing about keys that are not there: 403 takes the place of 404. */
  const hidesMissingKey = async (principal: Principal, { operation, bucket, key }: S3Request) => {
    if (operation !== 'GetObject' && operation !== 'HeadObject') return undefined;
    const refused = findRefusal(principal, [{ action: 's3:ListBucket', resource: s3Arn(bucket) }]);
    return refused !== undefined && !(await store.existsObject(bucket, key)) ? refused : undefined;
  };

  const answer: S3Service['handle'] = async (request, response, { principal, target, admit }) => {
    const copySource = request.headers['x-amz-copy-source'];
    const call = readS3Request(
      request.method ?? 'GET',
      target,
      typeof copySource === 'string' ? copySource : undefined,
    );
    const refused = findRefusal(principal, call.permissions) ?? (await hidesMissingKey(principal, call));
    if (refused) throw new AwsError('AccessDenied', refused, 403);
    await admit(call.operation);
    if (call.operation === 'Unknown') {
      throw new AwsError(
        'NotImplemented',
        `The local S3 has no ${request.method} ${target.pathname}?${target.searchParams} here`,
        501,
      );
    }
    if (call.bucket !== '' && (await store.getBucket(call.bucket)) === null) {
      throw new AwsError('NoSuchBucket', 'The specified bucket does not exist', 404);
    }
    switch (call.operation) {
      case 'HeadBucket':
        response.writeHead(200).end();
        return;
      case 'DeleteObjects': {
        const body = (await readBody(request)).toString('utf8');
        sendXml(response, 200, await deleteObjects(store, principal, call.bucket, body));
        return;
      }
      case 'ListObjectsV2':
        sendXml(response, 200, await listObjects(store, call.bucket, target.searchParams));
        return;
      case 'AbortMultipartUpload':
        if (!(await store.abortUpload(call.bucket, target.searchParams.get('uploadId') ?? ''))) {
          throw new AwsError('NoSuchUpload', 'The specified upload does not exist.', 404);
        }
        response.writeHead(204).end();
        return;
      default:
        await adaptHeaders(store, request, call);
        await s3rver.handle(request, response);
    }
  };

  return {
    store,
    close: s3rver.close,
    async handle(request, response, caller) {
      try {
        await answer(request, response, caller);
      } catch (error) {
        if (error instanceof URIError) {
          sendXmlError(response, new AwsError('InvalidURI', "Couldn't parse the specified URI."));
        } else if (error instanceof AwsError || isS3Error(error)) {
          sendXmlError(response, error);
        } else {
          throw error;
        }
      }
    },
  };
};
