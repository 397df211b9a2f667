import { S3Client } from '@aws-sdk/client-s3';
import { createPresignedPost, type PresignedPost } from '@aws-sdk/s3-presigned-post';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { secretAccessKeyOf } from '../../src/template/roles.ts';
import { keysOf, useBucket } from './s3-support.ts';
import { allow, aPrincipal, BUCKET, REGION } from './support.ts';

const { list, read, started } = useBucket();
const SIGNER = aPrincipal('signer', allow(['s3:PutObject'], `arn:aws:s3:::${BUCKET}/uploads/*`));
beforeAll(() => started.endpoint.addPrincipals([SIGNER]));

const BYTES = Buffer.from('twelve bytes');
/** A form for one file of twelve bytes, signed by a caller who may put objects under `uploads/`. */
const aForm = (key: string, { Expires = 60, secretAccessKey = secretAccessKeyOf(SIGNER.accessKeyId) } = {}) =>
  createPresignedPost(
    new S3Client({
      region: REGION,
      endpoint: started.endpoint.url,
      forcePathStyle: true,
      credentials: { accessKeyId: SIGNER.accessKeyId, secretAccessKey },
    }),
    {
      Bucket: BUCKET,
      Key: key,
      Fields: { 'Content-Type': 'image/png' },
      Conditions: [['content-length-range', BYTES.length, BYTES.length]],
      Expires,
    },
  );

/** Sends a form with its file, and returns the status and the error's code. */
const sendForm = async (
  { url, fields }: PresignedPost,
  { bytes = BYTES, change = (_form: FormData) => {} } = {},
): Promise<[status: number, code: string | undefined]> => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  change(form);
  form.append('file', new Blob([new Uint8Array(bytes)]));
  const response = await fetch(url, { method: 'POST', body: form });
  return [response.status, /<Code>(\w+)<\/Code>/.exec(await response.text())?.[1]];
};

describe('a form upload', () => {
  test('stores its file under the key and type that were signed', async () => {
    expect(await sendForm(await aForm('uploads/a.png'))).toEqual([204, undefined]);
    expect(await read('uploads/a.png')).toMatchObject({ ContentType: 'image/png', bytes: BYTES });
  });

  test.each<[string, (form: FormData) => void, number, string]>([
    ['another key', (form) => form.set('key', 'uploads/b.png'), 403, 'AccessDenied'],
    ['another type', (form) => form.set('Content-Type', 'text/html'), 403, 'AccessDenied'],
    ['a field more', (form) => form.set('x-amz-meta-a', 'b'), 403, 'AccessDenied'],
    ['a type less', (form) => form.delete('Content-Type'), 403, 'AccessDenied'],
    ['no policy', (form) => form.delete('Policy'), 400, 'InvalidArgument'],
    ['no signature', (form) => form.delete('X-Amz-Signature'), 400, 'InvalidArgument'],
    ['a short signature', (form) => form.set('X-Amz-Signature', '00'), 403, 'SignatureDoesNotMatch'],
    [
      'a policy of its own',
      (form) =>
        form.set(
          'Policy',
          Buffer.from('{"expiration":"2099-01-01T00:00:00Z","conditions":[]}').toString('base64'),
        ),
      403,
      'SignatureDoesNotMatch',
    ],
    [
      'another signer',
      (form) => form.set('X-Amz-Credential', 'AKIANOBODY/20261123/us-east-1/s3/aws4_request'),
      403,
      'InvalidAccessKeyId',
    ],
  ])('with %s is refused', async (_, change, status, code) => {
    expect(await sendForm(await aForm('uploads/refused.png'), { change })).toEqual([status, code]);
    expect(keysOf(await list())).not.toContain('uploads/refused.png');
  });

  test('of another size than was signed is refused', async () => {
    const form = await aForm('uploads/sized.png');

    expect(await sendForm(form, { bytes: BYTES.subarray(1) })).toEqual([400, 'EntityTooSmall']);
    expect(await sendForm(form, { bytes: Buffer.concat([BYTES, BYTES]) })).toEqual([400, 'EntityTooLarge']);
    expect(keysOf(await list())).not.toContain('uploads/sized.png');
  });

  test('is refused after its policy has expired, with a wrong secret, and where its signer may not put', async () => {
    expect(await sendForm(await aForm('uploads/late.png', { Expires: -1 }))).toEqual([403, 'AccessDenied']);
    expect(await sendForm(await aForm('uploads/x.png', { secretAccessKey: 'guessed' }))).toEqual([
      403,
      'SignatureDoesNotMatch',
    ]);
    expect(await sendForm(await aForm('outputs/x.png'))).toEqual([403, 'AccessDenied']);
  });

  test('that is none is refused', async () => {
    const url = `${started.endpoint.url}/${BUCKET}`;
    const broken = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body: 'no form',
    });
    const empty = new FormData();
    empty.append('key', 'uploads/a.png');

    expect(broken.status).toBe(400);
    expect((await fetch(url, { method: 'POST', body: empty })).status).toBe(400);
    expect((await fetch(`${url}-none`, { method: 'POST', body: empty })).status).toBe(404);
  });
});
