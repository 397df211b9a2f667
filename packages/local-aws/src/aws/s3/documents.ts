import type { Principal } from '../../types.ts';
import { findRefusal } from '../authorize.ts';
import { AwsError } from '../errors.ts';
import { s3Arn } from '../permissions/s3.ts';
import type { Part } from './multipart.ts';
import type { ObjectStore } from './object-store.ts';
import { element, elementTexts, escapeXml } from './xml.ts';

/** S3's own limit on one DeleteObjects call. */
const MAX_DELETED_KEYS = 1_000;

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';

const root = (name: string, content: string) => `<${name} xmlns="${NAMESPACE}">${content}</${name}>`;

const malformedXml = () =>
  new AwsError('MalformedXML', 'The XML you provided was not well-formed or did not validate.');

/** Deletes the keys in a DeleteObjects body, each if the caller may; returns the answer. Throws `MalformedXML`. */
export const deleteObjects = async (
  store: ObjectStore,
  principal: Principal,
  bucket: string,
  body: string,
): Promise<string> => {
  const keys = elementTexts(body, 'Key');
  if (keys.length === 0 || keys.length > MAX_DELETED_KEYS) throw malformedXml();
  const quiet = elementTexts(body, 'Quiet')[0] === 'true';
  const results = await Promise.all(
    keys.map(async (key) => {
      const refused = findRefusal(principal, [{ action: 's3:DeleteObject', resource: s3Arn(bucket, key) }]);
      if (refused) {
        return `<Error>${element('Key', key)}<Code>AccessDenied</Code>${element('Message', refused)}</Error>`;
      }
      await store.delete(bucket, key);
      return quiet ? '' : `<Deleted>${element('Key', key)}</Deleted>`;
    }),
  );
  return root('DeleteResult', results.join(''));
};

/** The answer to ListObjectsV2. A continuation token is the last name of the page before. Throws `InvalidArgument`. */
export const listObjects = async (
  store: ObjectStore,
  bucket: string,
  query: URLSearchParams,
): Promise<string> => {
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

  const page = await store.list(bucket, { prefix, delimiter, startAfter, maxKeys });
  const contents = await Promise.all(
    page.keys.map(async (key) => {
      const object = await store.find(bucket, key);
      if (!object) return '';
      const modified = element('LastModified', object.modifiedAt.toISOString());
      const size = element('Size', object.sizeBytes);
      return `<Contents>${element('Key', name(key))}${modified}${element('ETag', `"${object.etag}"`)}${size}<StorageClass>STANDARD</StorageClass></Contents>`;
    }),
  );
  return root(
    'ListBucketResult',
    [
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
    ].join(''),
  );
};

/** The answer to CreateMultipartUpload. */
export const uploadCreated = (bucket: string, key: string, uploadId: string): string =>
  root(
    'InitiateMultipartUploadResult',
    element('Bucket', bucket) + element('Key', key) + element('UploadId', uploadId),
  );

/** The parts in a CompleteMultipartUpload body. Throws `MalformedXML` where there are none. */
export const partsIn = (body: string): Part[] => {
  const parts = [...body.matchAll(/<Part>[\s\S]*?<\/Part>/g)].map(([part]) => ({
    number: Number(elementTexts(part, 'PartNumber')[0]),
    etag: (elementTexts(part, 'ETag')[0] ?? '').replaceAll('"', ''),
  }));
  if (parts.length === 0) throw malformedXml();
  return parts;
};

/** The answer to CompleteMultipartUpload; `etag` is without quotes. */
export const uploadCompleted = (bucket: string, key: string, etag: string): string =>
  root(
    'CompleteMultipartUploadResult',
    element('Location', `/${bucket}/${key}`) +
      element('Bucket', bucket) +
      element('Key', key) +
      element('ETag', `"${etag}"`),
  );
