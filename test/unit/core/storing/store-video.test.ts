import { Readable } from 'node:stream';
import { GetObjectCommand, S3Client, UploadPartCommand } from '@aws-sdk/client-s3';
import { SpooledVideo } from '@generation-service/media/spooled-video';
import { describe, expect, jest, test } from '@jest/globals';
import { storeVideo } from '../../../../core/files/store-files.ts';
import { uploadFile } from '../../../../core/files/upload.ts';
import { aVideo, type VideoOptions } from '../../../../packages/media/test/videos.ts';
import { bucket } from '../../fakes/fresh-bucket.ts';

/** The bytes in pieces, as they arrive from a network. */
const arriving = (file: Uint8Array, pieceBytes = 65_536): Readable => {
  const pieces = function* () {
    for (let place = 0; place < file.byteLength; place += pieceBytes) {
      yield file.subarray(place, place + pieceBytes);
    }
  };
  return Readable.from(pieces(), { objectMode: false });
};
const keyOf = ({ extension }: { extension: string }) => `outputs/0.${extension}`;
const store = (file: Uint8Array, pieceBytes?: number) => storeVideo(arriving(file, pieceBytes), keyOf);

describe('storing a video', () => {
  test.each<[VideoOptions, string, string]>([
    [{ layout: 'index-first' }, 'outputs/0.mp4', 'video/mp4'],
    [{ layout: 'index-last' }, 'outputs/0.mp4', 'video/mp4'],
    [{ layout: 'fragments' }, 'outputs/0.mp4', 'video/mp4'],
    [{ container: 'mov' }, 'outputs/0.mov', 'video/quicktime'],
    [{ container: 'webm' }, 'outputs/0.webm', 'video/webm'],
  ])('of %j returns what its bytes say', async (options, objectKey, contentType) => {
    const file = await aVideo({ ...options, seconds: 6.5, width: 1920, height: 1080 });

    const stored = await store(file);

    expect(stored).toMatchObject({
      objectKey,
      contentType,
      sizeBytes: file.byteLength,
      durationSec: 6.5,
      width: 1920,
      height: 1080,
    });
    expect(bucket.objects.get(objectKey)).toEqual({
      bucket: 'bucket',
      bytes: file,
      contentType,
      contentDisposition: `inline; filename="${objectKey.split('/').slice(-2).join('_')}"`,
      parts: [file.byteLength],
    });
  });

  test('uploads a large file in parts of 5 MiB and reads nothing back', async () => {
    const file = await aVideo({ seconds: 10, layout: 'index-last', frameBytes: 120_000 });

    await store(file);

    expect(bucket.objects.get('outputs/0.mp4')?.parts).toEqual([
      5_242_880,
      5_242_880,
      file.byteLength - 2 * 5_242_880,
    ]);
    expect(bucket.objects.get('outputs/0.mp4')?.bytes.equals(file)).toBe(true);
    expect(bucket.client.commandCalls(GetObjectCommand)).toEqual([]);
  });

  test.each(['mp4', 'webm'] as const)(
    'of type %s is recognized however small the chunks',
    async (container) => {
      const file = await aVideo({ container, seconds: 1 });

      expect(await store(file, 1)).toMatchObject({ durationSec: 1, sizeBytes: file.byteLength });
    },
  );
});

describe('a video that is not stored', () => {
  const nothingStored = () => expect([...bucket.objects.keys()]).toEqual([]);

  test.each([
    ['an HTML page', Buffer.from('<!DOCTYPE html><html></html>')],
    ['a PNG', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')],
    ['a megabyte of zeros', Buffer.alloc(1024 * 1024)],
  ])('because it is %s is refused for good, and nothing is uploaded', async (_, file) => {
    await expect(store(file)).rejects.toMatchObject({ name: 'FileUnavailableError', fault: 'final' });
    expect(bucket.client.calls()).toHaveLength(0);
  });

  test('because nothing came is fetched again', async () => {
    await expect(store(Buffer.alloc(0))).rejects.toMatchObject({ fault: 'cut-off' });
    nothingStored();
  });

  test.each([1, 11, 12, 13, 100])('because it ends after %i bytes is fetched again', async (sizeBytes) => {
    const file = await aVideo({ layout: 'index-last', seconds: 2 });

    await expect(store(file.subarray(0, sizeBytes))).rejects.toMatchObject({
      name: 'FileUnavailableError',
      fault: 'cut-off',
    });
    nothingStored();
  });

  test('because its end is missing is fetched again', async () => {
    const file = await aVideo({ layout: 'index-last', seconds: 2 });

    await expect(store(file.subarray(0, file.byteLength - 100))).rejects.toMatchObject({
      name: 'FileUnavailableError',
      message: 'The video is cut off.',
      fault: 'cut-off',
    });
    nothingStored();
  });

  test.each([
    [
      'a box is shorter than its head',
      (file: Buffer) => {
        file.writeUInt32BE(7, file.indexOf('mdat') - 4);
        return file;
      },
    ],
    ['it has two indexes', (file: Buffer) => Buffer.concat([file, file.subarray(file.indexOf('moov') - 4)])],
  ])('because %s is fetched again: the way may have damaged it', async (_, harm) => {
    const file = harm(await aVideo({ layout: 'index-last', seconds: 2 }));

    await expect(store(file)).rejects.toMatchObject({
      name: 'FileUnavailableError',
      message: 'The video is damaged.',
      fault: 'cut-off',
    });
    nothingStored();
  });

  test('because the download broke off may be retried', async () => {
    const file = await aVideo();
    const breaking = Readable.from(
      (async function* () {
        yield file.subarray(0, 2_000);
        throw new Error('other side closed');
      })(),
      { objectMode: false },
    );

    await expect(storeVideo(breaking, keyOf)).rejects.toThrow('other side closed');
    nothingStored();
  });
});

test.each<[string, (file: Buffer) => Buffer, string]>([
  ['stored', (file) => file, 'fulfilled'],
  ['cut off', (file) => file.subarray(0, file.byteLength - 100), 'rejected'],
  ['empty', () => Buffer.alloc(0), 'rejected'],
])('a video that is %s leaves nothing open on the disk', async (_, change, status) => {
  const close = jest.spyOn(SpooledVideo.prototype, 'close');
  const write = jest.spyOn(SpooledVideo.prototype, 'write');
  close.mockClear();
  write.mockClear();

  const [stored] = await Promise.allSettled([
    store(change(await aVideo({ layout: 'index-last', seconds: 2 }))),
  ]);

  expect(stored?.status).toBe(status);
  expect(close.mock.contexts).toHaveLength(1);
  expect(write.mock.contexts.every((video) => video === close.mock.contexts[0])).toBe(true);
});

describe('uploading a file', () => {
  const sort = {
    recognize: () => ({ contentType: 'text/plain' }),
    maxHeadBytes: 1_000,
    maxBytes: 12 * 1024 * 1024,
    unrecognized: 'It is something else.',
    tooLarge: 'It is too large.',
  };

  test('accepts exactly the maximum size', async () => {
    const uploaded = await uploadFile(arriving(Buffer.alloc(sort.maxBytes)), sort, () => 'k', {
      client: new S3Client(),
    });

    expect(uploaded.sizeBytes).toBe(sort.maxBytes);
    expect(bucket.objects.get('k')?.bytes.byteLength).toBe(sort.maxBytes);
  });

  test('refuses a larger file for good, and leaves no parts behind', async () => {
    let isLetGo = false;
    const endless = async function* () {
      try {
        for (;;) yield Buffer.alloc(1024 * 1024);
      } finally {
        isLetGo = true;
      }
    };

    await expect(uploadFile(endless(), sort, () => 'k', { client: new S3Client() })).rejects.toMatchObject({
      name: 'FileUnavailableError',
      message: 'It is too large.',
      fault: 'final',
    });
    expect(bucket.client.commandCalls(UploadPartCommand)).toHaveLength(2);
    expect(bucket.abortedUploads).toEqual(['k']);
    expect(isLetGo).toBe(true);
  });

  test.each([
    [1, 11, 'cut-off'],
    [1, 12, 'final'],
    [12, 12, 'cut-off'],
    [1_000, 999, 'cut-off'],
    [1_000, 1_000, 'cut-off'],
    [1_000, 1_001, 'final'],
    [1_000, 2_000, 'final'],
  ])(
    'that is not recognized, and begins as one of its kind up to byte %i, of %i bytes is: %s',
    async (begunBytes, sizeBytes, fault) => {
      const isBegun = (head: Uint8Array) => head.byteLength <= begunBytes;
      const endOf = () => ({ take: () => undefined, isWhole: () => true, hasManifest: () => false });
      const unknown = { ...sort, recognize: () => undefined, ends: { endOf, isBegun, cutOff: 'cut' } };

      const stored = uploadFile(arriving(Buffer.alloc(sizeBytes), 500), unknown, () => 'k', {
        client: new S3Client(),
      });

      await expect(stored).rejects.toMatchObject({ message: 'It is something else.', fault });
    },
  );
});
