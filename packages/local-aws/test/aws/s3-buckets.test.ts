import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';

import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { describe, expect, test } from '@jest/globals';

import { keysOf, useBucket } from './s3-support.ts';
import { allow, aPrincipal, BUCKET, clientsOf, eventually, rejectionOf } from './support.ts';

const { list, put, read, started } = useBucket();

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

    await new Upload({ client: started.s3, params }).done();

    const object = await read('large.mp4');
    expect(object.bytes.equals(bytes)).toBe(true);
    expect(object).toMatchObject({ ContentType: 'video/mp4', ETag: expect.stringMatching(/^"\w{32}-3"$/) });
  });

  test('an aborted upload leaves no object, and takes no more parts', async () => {
    const upload = { Bucket: BUCKET, Key: 'aborted' };
    const { UploadId } = await started.s3.send(new CreateMultipartUploadCommand(upload));
    await started.s3.send(new UploadPartCommand({ ...upload, UploadId, PartNumber: 1, Body: 'part' }));

    await started.s3.send(new AbortMultipartUploadCommand({ ...upload, UploadId }));

    const late = started.s3.send(new UploadPartCommand({ ...upload, UploadId, PartNumber: 2, Body: 'part' }));
    expect((await rejectionOf(late)).name).toBe('NoSuchUpload');
    expect((await rejectionOf(read('aborted'))).name).toBe('NoSuchKey');
  });
});

describe('deleting and listing', () => {
  test('a deleted key is gone, and deleting it again is no error', async () => {
    await put('gone/soon', 'x');

    for (let time = 0; time < 2; time += 1) {
      await started.s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: 'gone/soon' }));
    }

    expect((await rejectionOf(read('gone/soon'))).name).toBe('NoSuchKey');
    expect(keysOf(await list({ Prefix: 'gone/' }))).toEqual([]);
  });

  test('keys are listed in pages, in order; one call deletes a thousand', async () => {
    const keys = Array.from({ length: 50 }, (_, at) => `many/${at % 7 ? 'a-b' : 'a'}/${at}`);
    await Promise.all(keys.map((key) => put(key, 'x')));

    const listed: (string | undefined)[] = [];
    let token: string | undefined;
    do {
      const page = await list({ Prefix: 'many/', MaxKeys: 14, ContinuationToken: token });
      listed.push(...keysOf(page));
      token = page.NextContinuationToken;
    } while (token);
    const Objects = Array.from({ length: 1_000 }, (_, at) => ({ Key: keys[at] ?? `many/never/${at}` }));
    const { Deleted } = await started.s3.send(
      new DeleteObjectsCommand({ Bucket: BUCKET, Delete: { Objects } }),
    );

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
    started.endpoint.addPrincipals([principal]);
    return clientsOf(started.endpoint, principal).s3;
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
