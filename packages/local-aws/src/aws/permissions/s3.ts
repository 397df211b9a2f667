import type { Permission } from '../authorize.ts';
import type { RequestTarget } from '../request-target.ts';

/** The operations of the local S3. */
export type S3Operation =
  | 'AbortMultipartUpload'
  | 'CompleteMultipartUpload'
  | 'CreateMultipartUpload'
  | 'DeleteObject'
  | 'DeleteObjects'
  | 'GetObject'
  | 'HeadObject'
  | 'ListObjectsV2'
  | 'PutObject'
  | 'UploadPart';

/** An S3 request, by its method, path and query. */
export interface S3Request {
  /** `Unknown` for any operation that the local S3 does not have. */
  operation: S3Operation | 'Unknown';
  /** Empty for calls on the service itself. */
  bucket: string;
  /** Decoded; empty for calls on a bucket. */
  key: string;
  /** What the caller needs. DeleteObjects needs a permission per key, known once its body is read. */
  permissions: Permission[];
}

/** The ARN of a bucket, or of an object in it. */
export const s3Arn = (bucket: string, key = ''): string =>
  key === '' ? `arn:aws:s3:::${bucket}` : `arn:aws:s3:::${bucket}/${key}`;

/** Reads a path-style request path. Throws `URIError` on a malformed escape. */
const readPath = (pathname: string): { bucket: string; key: string } => {
  const [, bucket = '', ...rest] = pathname.split('/');
  return { bucket: decodeURIComponent(bucket), key: rest.map(decodeURIComponent).join('/') };
};

type Call = [operation: S3Request['operation'], action: string];

const UNKNOWN: Call = ['Unknown', 's3:*'];

const bucketCall = (method: string, query: URLSearchParams): Call => {
  if (method === 'POST' && query.has('delete')) return ['DeleteObjects', ''];
  if (method === 'GET' && query.get('list-type') === '2') return ['ListObjectsV2', 's3:ListBucket'];
  return UNKNOWN;
};

/** Query parameters that make a request one of an object's subresources, or of another version. */
const OBJECT_SUBRESOURCES = ['acl', 'attributes', 'tagging', 'versionId'];

const uploadCall = (method: string): Call => {
  switch (method) {
    case 'PUT':
      return ['UploadPart', 's3:PutObject'];
    case 'POST':
      return ['CompleteMultipartUpload', 's3:PutObject'];
    case 'DELETE':
      return ['AbortMultipartUpload', 's3:AbortMultipartUpload'];
    default:
      return UNKNOWN;
  }
};

const objectCall = (method: string, query: URLSearchParams, isCopy: boolean): Call => {
  if (isCopy || OBJECT_SUBRESOURCES.some((name) => query.has(name))) return UNKNOWN;
  if (query.has('uploadId')) return uploadCall(method);
  switch (method) {
    case 'GET':
      return ['GetObject', 's3:GetObject'];
    case 'HEAD':
      return ['HeadObject', 's3:GetObject'];
    case 'PUT':
      return ['PutObject', 's3:PutObject'];
    case 'DELETE':
      return ['DeleteObject', 's3:DeleteObject'];
    case 'POST':
      return query.has('uploads') ? ['CreateMultipartUpload', 's3:PutObject'] : UNKNOWN;
    default:
      return UNKNOWN;
  }
};

/**
 * Reads an S3 request. `isCopy`: it has an `x-amz-copy-source` header, which the local S3 does not know. Throws `URIError` when the
 * path holds a malformed escape.
 */
export const readS3Request = (method: string, url: RequestTarget, isCopy = false): S3Request => {
  const { bucket, key } = readPath(url.pathname);
  const [operation, action] =
    bucket === ''
      ? UNKNOWN
      : key === ''
        ? bucketCall(method, url.searchParams)
        : objectCall(method, url.searchParams, isCopy);
  const resource = bucket === '' ? '*' : s3Arn(bucket, key);
  return { operation, bucket, key, permissions: action ? [{ action, resource }] : [] };
};
