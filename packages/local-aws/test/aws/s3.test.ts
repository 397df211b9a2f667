import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { IncomingMessage, request, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';

import { HeadObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { describe, expect, test } from '@jest/globals';

import { openS3Service } from '../../src/aws/s3/s3-service.ts';
import { keysOf, useBucket } from './s3-support.ts';
import { BUCKET, clientsOf, endpointOptions, rejectionOf, removeDirectory } from './support.ts';

const { list, put, read, started } = useBucket();

/** The open files of this process in a directory. */
const openFilesIn = (directory: string): string[] =>
  readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${descriptor}`);
      return file.startsWith(directory) ? [file] : [];
    } catch {
      // The descriptor that listed the others.
      return [];
    }
  });

describe('objects', () => {
  test('a buffer is read back with its content type, metadata and entity tag', async () => {
    const bytes = randomBytes(100_000);

    const { ETag } = await put('a/image.png', bytes, { ContentType: 'image/png', Metadata: { owner: 'me' } });

    const object = await read('a/image.png');
    expect(object.bytes.equals(bytes)).toBe(true);
    expect(object).toMatchObject({
      ContentType: 'image/png',
      ContentLength: 100_000,
      Metadata: { owner: 'me' },
      ETag,
    });
    expect(ETag).toBe(`"${createHash('md5').update(bytes).digest('hex')}"`);
  });

  test('a stream of known length is stored whole when it is answered', async () => {
    const bytes = randomBytes(3_000_000);

    await put('a/stream.mp4', Readable.from([bytes]), {
      ContentLength: bytes.length,
      ContentType: 'video/mp4',
    });

    expect((await read('a/stream.mp4')).bytes.equals(bytes)).toBe(true);
  });

  test('uploads with the default checksums, framed as aws-chunked, are stored without their framing', async () => {
    const { requestChecksumCalculation: _none, ...settings } = {
      ...clientsOf(started.endpoint).settings,
      requestChecksumCalculation: undefined,
    };
    const checking = new S3Client(settings);
    const bytes = randomBytes(200_000);
    const stream = Readable.from([bytes.subarray(0, 70_000), bytes.subarray(70_000)]);

    await checking.send(
      new PutObjectCommand({ Bucket: BUCKET, Key: 'chunked', Body: stream, ContentLength: bytes.length }),
    );

    const object = await read('chunked');
    expect(object.bytes.equals(bytes)).toBe(true);
    expect(object.ContentEncoding).toBeUndefined();
  });

  test('a range is sent alone, and one beyond the end is refused', async () => {
    await put('ranged', 'abcde');

    const object = await read('ranged', 'bytes=1-3');

    expect([object.bytes.toString(), object.ContentRange]).toEqual(['bcd', 'bytes 1-3/5']);
    expect((await rejectionOf(read('ranged', 'bytes=5-9'))).name).toBe('InvalidRange');
  });

  test('an empty object can be put, read and looked up', async () => {
    await put('empty', Buffer.alloc(0));

    expect((await read('empty')).bytes.length).toBe(0);
    const head = await started.s3.send(new HeadObjectCommand({ Bucket: BUCKET, Key: 'empty' }));
    expect(head).toMatchObject({ ContentLength: 0, ContentType: 'application/octet-stream' });
  });

  test('a missing key is NoSuchKey when read and NotFound when looked up', async () => {
    expect((await rejectionOf(read('nothing'))).name).toBe('NoSuchKey');
    const head = started.s3.send(new HeadObjectCommand({ Bucket: BUCKET, Key: 'nothing' }));
    expect((await rejectionOf(head)).name).toBe('NotFound');
  });

  test('a missing bucket is NoSuchBucket', async () => {
    const lost = started.s3.send(new PutObjectCommand({ Bucket: 'no-such-bucket', Key: 'a', Body: 'a' }));

    expect((await rejectionOf(lost)).name).toBe('NoSuchBucket');
  });

  test.each([
    'plain',
    'with space & <angle>.txt',
    'ünï/côdé',
    'a',
    'a/b',
    'a/b/c.png',
    '12',
    '0012',
    'dots/../x',
    'tail/',
  ])('the key %j holds its own bytes', async (key) => {
    await put(key, `bytes of ${key}`);

    expect((await read(key)).bytes.toString()).toBe(`bytes of ${key}`);
    expect(keysOf(await list({ Prefix: key }))).toContain(key);
  });

  test('an aborted upload leaves the old object', async () => {
    await put('steady', 'before');
    const { Authorization, ...rest } = {
      Authorization: 'AWS4-HMAC-SHA256 Credential=AKIAOPERATOR/d/r/s3/aws4_request',
      'content-length': 1_000_000,
    };

    await new Promise((resolve) => {
      const upload = request(`${started.endpoint.url}/${BUCKET}/steady`, {
        method: 'PUT',
        headers: { Authorization, ...rest },
      });
      upload.on('error', resolve);
      upload.write('the beginning of something longer', () => upload.destroy(new Error('gone')));
    });

    expect((await read('steady')).bytes.toString()).toBe('before');
  });

  test('a reader that has gone before its first byte leaves no open file', async () => {
    const { dataDir } = endpointOptions();
    const service = await openS3Service(dataDir, [BUCKET]);
    await service.store.put(BUCKET, 'left', Readable.from(['bytes']), {});
    const incoming = Object.assign(new IncomingMessage(new Socket()), { method: 'GET' });
    const gone = new ServerResponse(incoming).destroy();

    await service.handle(incoming, gone, {
      principal: { name: 'operator', accessKeyId: 'AKIAOPERATOR' },
      target: { pathname: `/${BUCKET}/left`, searchParams: new URLSearchParams() },
      admit: async () => undefined,
    });

    while (openFilesIn(dataDir).length > 0) await new Promise(setImmediate);
    removeDirectory(dataDir);
  });

  test('while an object is replaced, every reader sees one version whole', async () => {
    const versions = ['x', 'y'].map((letter) => Buffer.alloc(400_000, letter));
    await put('replaced', versions[0] ?? '');

    const writes = Array.from({ length: 10 }, (_, at) => put('replaced', versions[at % 2] ?? ''));
    const reads = await Promise.all(Array.from({ length: 20 }, () => read('replaced')));
    await Promise.all(writes);

    for (const { bytes } of reads) expect(versions.some((version) => version.equals(bytes))).toBe(true);
  });

  test('the endpoint opens objects for file delivery', async () => {
    await put('delivered/0.png', 'png', { ContentType: 'image/png' });

    const object = await started.endpoint.readObject(BUCKET, 'delivered/0.png');

    expect(object).toMatchObject({
      contentType: 'image/png',
      contentLength: 3,
      etag: expect.stringMatching(/^"\w{32}"$/),
    });
    expect(await object?.body.toArray()).toEqual([Buffer.from('png')]);
    expect(await started.endpoint.readObject(BUCKET, 'delivered/1.png')).toBeUndefined();
  });
});
