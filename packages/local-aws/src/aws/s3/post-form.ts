import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { secretAccessKeyOf } from '../../template/roles.ts';
import type { Principal } from '../../types.ts';
import { findRefusal } from '../authorize.ts';
import { AwsError } from '../errors.ts';
import { identify } from '../identify.ts';
import { s3Arn } from '../permissions/s3.ts';
import type { RequestTarget } from '../request-target.ts';
import type { ObjectStore } from './object-store.ts';
import { checkPolicy, checkSignature, type FormFields, requiredField } from './post-policy.ts';

/** Whether a request is an upload by a form: `POST` of `multipart/form-data` to a bucket, signed by a field. */
export const isFormUpload = ({ method, headers }: IncomingMessage): boolean =>
  method === 'POST' && /^multipart\/form-data\b/i.test(headers['content-type'] ?? '');

/** What a form upload works with. */
export interface FormUpload {
  store: ObjectStore;
  principals: ReadonlyMap<string, Principal>;
  /** Called with the signer once the form is allowed; it may refuse the call. */
  admit: (principal: Principal) => Promise<void>;
  now?: () => Date;
}

/**
 * Stores the file of a form, by the rights of the caller who signed its policy. Unlike those of other calls, the signature is checked: the
 * form comes from somebody else. Answers 204. Throws `AwsError`.
 */
export const storeForm = async (
  request: IncomingMessage,
  response: ServerResponse,
  target: RequestTarget,
  { store, principals, admit, now = () => new Date() }: FormUpload,
): Promise<void> => {
  const bucket = decodeURIComponent(target.pathname.split('/')[1] ?? '');
  if (!(await store.hasBucket(bucket)))
    throw new AwsError('NoSuchBucket', 'The specified bucket does not exist', 404);
  const { fields, file } = await readForm(request);
  const [accessKeyId = ''] = requiredField(fields, 'X-Amz-Credential').split('/');
  const { principal } = identify({ accessKeyId, service: 's3' }, principals, () => true);
  checkSignature(fields, secretAccessKeyOf(accessKeyId));
  const { minBytes, maxBytes } = checkPolicy(fields, bucket, now());
  const key = requiredField(fields, 'key');
  const refused = findRefusal(principal, [{ action: 's3:PutObject', resource: s3Arn(bucket, key) }]);
  if (refused) throw new AwsError('AccessDenied', refused, 403);
  if (file.size < minBytes) {
    throw new AwsError(
      'EntityTooSmall',
      'Your proposed upload is smaller than the minimum allowed size',
      400,
    );
  }
  if (file.size > maxBytes) {
    throw new AwsError('EntityTooLarge', 'Your proposed upload exceeds the maximum allowed size', 400);
  }
  await admit(principal);
  const etag = await store.put(bucket, key, Readable.fromWeb(file.stream() as never), {
    'content-type': fields.get('content-type') ?? 'binary/octet-stream',
  });
  response.writeHead(204, { etag: `"${etag}"` }).end();
};

/** The fields of a form up to its file, and the file. S3 ignores what follows it. Throws `MalformedPOSTRequest`. */
const readForm = async (request: IncomingMessage): Promise<{ fields: FormFields; file: Blob }> => {
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  const form = await new Response(Readable.toWeb(request) as never, { headers })
    .formData()
    .catch((error: unknown) => {
      const message = 'The body of your POST request is not well-formed multipart/form-data.';
      throw new AwsError('MalformedPOSTRequest', `${message} ${error}`, 400);
    });
  const fields = new Map<string, string>();
  for (const [name, value] of form) {
    if (name.toLowerCase() === 'file')
      return { fields, file: typeof value === 'string' ? new Blob([value]) : value };
    if (typeof value === 'string') fields.set(name.toLowerCase(), value);
  }
  throw new AwsError('InvalidArgument', 'POST requires exactly one file upload per request.', 400);
};
