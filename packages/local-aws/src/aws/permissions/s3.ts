import type { Permission } from '../authorize.ts';
import type { RequestTarget } from '../request-target.ts';

/** An S3 request, told from its method, path and query. */
export interface S3Request {
  /** The API operation, or `Unknown` when it is not one the local store has. */
  operation: string;
  /** Empty for calls on the service itself. */
  bucket: string;
  /** Decoded; empty for calls on a bucket. */
  key: string;
  /** What the call needs. DeleteObjects asks per key once its body is read. */
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

/** `GET`, `HEAD` and `PUT` of a bucket or the service: operation and action. */
const bucketOperation = (method: string, query: URLSearchParams): [operation: string, action: string] => {
  if (method === 'POST' && query.has('delete')) return ['DeleteObjects', ''];
  if (method === 'HEAD') return ['HeadBucket', 's3:ListBucket'];
  if (method === 'GET' && query.has('location')) return ['GetBucketLocation', 's3:GetBucketLocation'];
  if (method === 'GET' && query.get('list-type') === '2') return ['ListObjectsV2', 's3:ListBucket'];
  if (method === 'GET' && ![...query.keys()].some((name) => BUCKET_SUBRESOURCES.has(name)))
    return ['ListObjects', 's3:ListBucket'];
  return ['Unknown', 's3:*'];
};

const BUCKET_SUBRESOURCES = new Set([
  'acl',
  'cors',
  'encryption',
  'lifecycle',
  'policy',
  'tagging',
  'uploads',
  'versioning',
  'versions',
  'website',
]);

const objectOperation = (method: string, query: URLSearchParams): [operation: string, action: string] => {
  const multipart = query.has('uploadId');
  if (query.has('acl') || query.has('tagging')) return ['Unknown', 's3:*'];
  switch (method) {
    case 'GET':
      return multipart ? ['Unknown', 's3:ListMultipartUploadParts'] : ['GetObject', 's3:GetObject'];
    case 'HEAD':
      return ['HeadObject', 's3:GetObject'];
    case 'PUT':
      return [multipart ? 'UploadPart' : 'PutObject', 's3:PutObject'];
    case 'DELETE':
      return multipart
        ? ['AbortMultipartUpload', 's3:AbortMultipartUpload']
        : ['DeleteObject', 's3:DeleteObject'];
    case 'POST':
      if (query.has('uploads')) return ['CreateMultipartUpload', 's3:PutObject'];
      return multipart ? ['CompleteMultipartUpload', 's3:PutObject'] : ['Unknown', 's3:*'];
    default:
      return ['Unknown', 's3:*'];
  }
};

/**
 * What an S3 request is and needs. `copySource` is the `x-amz-copy-source` header: a copy also needs to read its source.
 * Throws `URIError` when the path or the source holds a malformed escape.
 */
export const readS3Request = (method: string, url: RequestTarget, copySource?: string): S3Request => {
  const { bucket, key } = readPath(url.pathname);
  if (bucket === '') {
    return {
      operation: method === 'GET' ? 'ListBuckets' : 'Unknown',
      bucket,
      key,
      permissions: [{ action: 's3:ListAllMyBuckets', resource: '*' }],
    };
  }
  const [operation, action] = key
    ? objectOperation(method, url.searchParams)
    : bucketOperation(method, url.searchParams);
  const permissions = action ? [{ action, resource: s3Arn(bucket, key) }] : [];
  if (operation === 'PutObject' && copySource !== undefined) {
    const source = readPath(`/${copySource.replace(/^\//, '')}`);
    return {
      operation: 'CopyObject',
      bucket,
      key,
      permissions: [...permissions, { action: 's3:GetObject', resource: s3Arn(source.bucket, source.key) }],
    };
  }
  return { operation, bucket, key, permissions };
};
