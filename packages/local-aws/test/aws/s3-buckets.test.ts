import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';

import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { AwsEndpoint } from '../../src/aws/endpoint.ts';
import {
  allow,
  aPrincipal,
  BUCKET,
  clientsOf,
  endpointOptions,
  eventually,
  rejectionOf,
  removeDirectory,
  startEndpoint,
} from './support.ts';

const options = endpointOptions();
let endpoint: AwsEndpoint;
let s3: S3Client;

beforeAll(async () => {
  endpoint = await startEndpoint(options);
  ({ s3 } = clientsOf(endpoint));
});
afterAll(async () => {
  await endpoint.close();
  removeDirectory(options.dataDir);
});

const put = (Key: string, Body: string | Buffer | Readable, rest = {}) =>
  s3.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body, ...rest }));
const read = async (Key: string, Range?: string) => {
  const { Body, ...rest } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key, Range }));
  return { ...rest, bytes: Buffer.from((await Body?.transformToByteArray()) ?? []) };
};
const list = (rest = {}) => s3.send(new ListObjectsV2Command({ Bucket: BUCKET, ...rest }));
const keysOf = (page: { Contents?: { Key?: string }[] }) => page.Contents?.map(({ Key }) => Key) ?? [];

describe('multipart uploads', () => {
  test('lib-storage uploads a stream of unknown length', async () => {
    const bytes = randomBytes(12 * 1024 * 1024);
    const pieces = Array.from({ length: 12 }, (_, at) =>
      bytes.subarray(at * 1024 * 1024, (at + 1) * 1024 * 1024),
    );
    const params = {
      Bucket: BUCKET,
      Key: 'large.mp4',
      Body: Readable.from(pieces),
      ContentType: 'video/mp4',
    };

    await new Upload({ client: s3, params }).done();

    const object = await read('large.mp4');
    expect(object.bytes.equals(bytes)).toBe(true);
    expect(object).toMatchObject({ ContentType: 'video/mp4', ETag: expect.stringMatching(/^"\w{32}-3"$/) });
  });

  test('an aborted upload leaves no object, and takes no more parts', async () => {
    const upload = { Bucket: BUCKET, Key: 'aborted' };
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand(upload));
    await s3.send(new UploadPartCommand({ ...upload, UploadId, PartNumber: 1, Body: 'part' }));

    await s3.send(new AbortMultipartUploadCommand({ ...upload, UploadId }));

    const late = s3.send(new UploadPartCommand({ ...upload, UploadId, PartNumber: 2, Body: 'part' }));
    expect((await rejectionOf(late)).name).toBe('NoSuchUpload');
    expect((await rejectionOf(read('aborted'))).name).toBe('NoSuchKey');
  });
});

describe('deleting and listing', () => {
  test('a deleted key is gone, and deleting it again is no error', async () => {
    await put('gone/soon', 'x');

    for (let time = 0; time < 2; time += 1) {
      await s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: 'gone/soon' }));
    }

    expect((await rejectionOf(read('gone/soon'))).name).toBe('NoSuchKey');
    expect(keysOf(await list({ Prefix: 'gone/' }))).toEqual([]);
  });

  test('keys are listed in pages, in order; one call deletes a thousand', async () => {
    const keys = Array.from({ length: 250 }, (_, at) => `many/${at % 7 ? 'a-b' : 'a'}/${at}`);
    for (let at = 0; at < keys.length; at += 50) {
      await Promise.all(keys.slice(at, at + 50).map((key) => put(key, 'x')));
    }

    const listed: (string | undefined)[] = [];
    let token: string | undefined;
    do {
      const page = await list({ Prefix: 'many/', MaxKeys: 70, ContinuationToken: token });
      listed.push(...keysOf(page));
      token = page.NextContinuationToken;
    } while (token);
    const Objects = Array.from({ length: 1_000 }, (_, at) => ({ Key: keys[at] ?? `many/never/${at}` }));
    const { Deleted } = await s3.send(new DeleteObjectsCommand({ Bucket: BUCKET, Delete: { Objects } }));

    expect(listed).toEqual([...keys].sort());
    expect(Deleted).toHaveLength(1_000);
    expect((await list({ Prefix: 'many/' })).KeyCount).toBe(0);
  });

  test('a delimiter rolls keys up into common prefixes', async () => {
    for (const key of ['tree/one', 'tree/x/1', 'tree/x/2', 'tree/y/1']) await put(key, 'x');

    const page = await list({ Prefix: 'tree/', Delimiter: '/' });

    expect(keysOf(page)).toEqual(['tree/one']);
    expect(page.CommonPrefixes).toEqual([{ Prefix: 'tree/x/' }, { Prefix: 'tree/y/' }]);
  });
});

describe('permissions', () => {
  const as = (name: string, actions: string[], ...resources: string[]) => {
    const principal = aPrincipal(name, allow(actions, ...resources));
    endpoint.addPrincipals([principal]);
    return clientsOf(endpoint, principal).s3;
  };
  const bucketArn = `arn:aws:s3:::${BUCKET}`;

  test("a refused call is AccessDenied, 403, with AWS's message", async () => {
    const writer = as('writer', ['s3:PutObject'], `${bucketArn}/mine/*`);
    await writer.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'mine/a', Body: 'x' }));

    const refused = writer.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'yours/a', Body: 'x' }));

    expect(await rejectionOf(refused)).toMatchObject({
      name: 'AccessDenied',
      message: expect.stringContaining(
        `User: writer is not authorized to perform: s3:PutObject on resource: ${bucketArn}/yours/a`,
      ),
      $metadata: expect.objectContaining({ httpStatusCode: 403 }),
    });
  });

  test('a missing key is AccessDenied for a caller that may not list', async () => {
    const reader = as('reader', ['s3:GetObject'], `${bucketArn}/*`);

    const missing = reader.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'nothing' }));

    expect((await rejectionOf(missing)).name).toBe('AccessDenied');
  });

  test('DeleteObjects is checked per key', async () => {
    await Promise.all(['bin/1', 'safe/1'].map((key) => put(key, 'x')));
    const cleaner = as('cleaner', ['s3:DeleteObject'], `${bucketArn}/bin/*`);

    const { Deleted, Errors } = await cleaner.send(
      new DeleteObjectsCommand({
        Bucket: BUCKET,
        Delete: { Objects: [{ Key: 'bin/1' }, { Key: 'safe/1' }] },
      }),
    );

    expect(Deleted).toEqual([{ Key: 'bin/1' }]);
    expect(Errors).toMatchObject([{ Key: 'safe/1', Code: 'AccessDenied' }]);
    await eventually(
      () => list({ Prefix: 'safe/' }),
      ({ KeyCount }) => KeyCount === 1,
    );
  });
});
