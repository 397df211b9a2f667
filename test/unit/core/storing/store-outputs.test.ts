import type { ServerResponse } from 'node:http';
import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { providerAttemptKey, requestKey } from '../../../../core/table/keys.ts';
import { anImage } from '../../../../packages/media/test/images.ts';
import { StoppedClock } from '../../builders/clocks.ts';
import { REQUEST_ID } from '../../builders/entities.ts';
import { file, keyOf, ProducedOutputs, withMetadata } from '../../builders/produced-outputs.ts';

const pause = jest.fn(async (_milliseconds: number) => undefined);
jest.unstable_mockModule('node:timers/promises', () => ({ setTimeout: pause }));
const { storeOutputs } = await import('../../../../core/storing/store-outputs.ts');

process.env.ALLOW_PRIVATE_TARGETS = 'true';
const produced = await new ProducedOutputs().start();
const { bucket, server, png } = produced;
const store = () => storeOutputs(REQUEST_ID, new StoppedClock());
beforeEach(() => {
  produced.reset();
  pause.mockClear();
});
afterAll(() => server.close());

describe('storing outputs', () => {
  test('copies each file under its own key and records what its bytes say', async () => {
    const [jpeg, webp] = [await anImage(30, 20, 'jpeg'), await anImage(16, 17, 'webp')];
    produced.serve({ '/a': file(png), '/b': file(jpeg), '/c': file(webp) });
    produced.given(['/a', '/b', '/c']);

    await store();

    const [ofPng, ofJpeg, ofWebp] = [png, jpeg, webp].map(({ byteLength: sizeBytes }) => ({ sizeBytes }));
    expect(produced.recorded()).toStrictEqual([
      { index: 0, objectKey: keyOf('0.png'), contentType: 'image/png', ...ofPng, width: 64, height: 48 },
      { index: 1, objectKey: keyOf('1.jpg'), contentType: 'image/jpeg', ...ofJpeg, width: 30, height: 20 },
      { index: 2, objectKey: keyOf('2.webp'), contentType: 'image/webp', ...ofWebp, width: 16, height: 17 },
    ]);
    expect(bucket.objects.get(keyOf('1.jpg'))).toEqual({
      bucket: 'bucket',
      bytes: jpeg,
      contentType: 'image/jpeg',
      // The item's id, as the record shows it; nothing of the account.
      contentDisposition: `inline; filename="${REQUEST_ID}_1.jpg"`,
      parts: [jpeg.byteLength],
    });
    expect([...bucket.objects.keys()].sort()).toEqual(['0.png', '1.jpg', '2.webp'].map(keyOf));
  });

  test('believes the bytes and not the headers', async () => {
    produced.serve({ '/a.jpg': file(png, { 'content-type': 'text/html', 'x-width': '9' }) });
    produced.given(['/a.jpg']);

    await store();

    expect(produced.recorded()).toMatchObject([{ objectKey: keyOf('0.png'), contentType: 'image/png' }]);
    expect(bucket.objects.get(keyOf('0.png'))).toMatchObject({ bytes: png, contentType: 'image/png' });
  });

  test('uploads a large file in parts, never holding it whole, and keeps every byte', async () => {
    const large = Buffer.concat([png, Buffer.alloc(12 * 1024 * 1024, 'abcdefg')]);
    produced.serve({ '/a': file(large) });
    produced.given(['/a']);

    await store();

    const stored = bucket.objects.get(keyOf('0.png'));
    expect(stored?.parts).toEqual([5_242_880, 5_242_880, large.byteLength - 2 * 5_242_880]);
    expect(stored?.bytes.equals(large)).toBe(true);
    expect(produced.recorded()).toMatchObject([{ sizeBytes: large.byteLength, contentType: 'image/png' }]);
  });

  test('recognizes an image that arrives a few bytes at a time', async () => {
    produced.serve({
      '/a': async (response) => {
        for (let place = 0; place < png.byteLength; place += 7) {
          response.write(png.subarray(place, place + 7));
          await new Promise(setImmediate);
        }
        response.end();
      },
    });
    produced.given(['/a']);

    await store();

    expect(produced.recorded()).toMatchObject([{ width: 64, height: 48, sizeBytes: png.byteLength }]);
    expect(bucket.objects.get(keyOf('0.png'))?.bytes.equals(png)).toBe(true);
  });

  test('finds the size of a JPEG behind almost 1 MiB of metadata', async () => {
    const jpeg = await anImage(30, 20, 'jpeg');
    produced.serve({ '/a': file(withMetadata(jpeg, 15)) });
    produced.given(['/a']);

    await store();

    expect(produced.recorded()).toMatchObject([{ contentType: 'image/jpeg', width: 30, height: 20 }]);
  });

  test('copies at most four files at once', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `/${index}`);
    const waiting: ServerResponse[] = [];
    let most = 0;
    server.respond = async (_, response) => {
      waiting.push(response);
      most = Math.max(most, waiting.length);
      const isLast = produced.requestedPaths().length === names.length;
      if (waiting.length < 4 && !isLast) return;
      // A fifth download would arrive now; with fewer than four, none would ever be answered.
      for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
      for (const one of waiting.splice(0)) one.end(png);
    };
    produced.given(names);

    await store();

    expect(most).toBe(4);
    expect(produced.recorded()).toMatchObject(
      names.map((_, index) => ({ index, objectKey: keyOf(`${index}.png`) })),
    );
  });

  test('drops outputs beyond the number the request was debited for', async () => {
    produced.serve({ '/a': file(png), '/b': file(png), '/c': file(png) });
    produced.given(['/a', '/b', '/c'], { images: 2 });

    await store();

    expect(produced.requestedPaths().sort()).toEqual(['/a', '/b']);
    expect(produced.recorded()).toMatchObject([{ index: 0 }, { index: 1 }]);
    expect(produced.recorded()).toHaveLength(2);
  });

  test('numbers outputs by their position among those produced', async () => {
    produced.serve({ '/a': file(png), '/b': file(png) });
    produced.given(['/a', '/gone', '/b']);
    const failure = { code: 'provider_error', message: 'broke' } as const;
    produced.memory.patch(providerAttemptKey(REQUEST_ID, 1, 0), { outcome: { kind: 'failed', failure } });

    await store();

    expect(produced.recorded()).toMatchObject([{ objectKey: keyOf('0.png') }, { objectKey: keyOf('1.png') }]);
    expect(produced.requestedPaths().sort()).toEqual(['/a', '/b']);
  });

  test('a second time writes the same files under the same keys', async () => {
    produced.serve({ '/a': file(png) });
    produced.given(['/a']);
    await store();
    const first = [structuredClone(produced.recorded()), new Map(bucket.objects)];

    await store();

    expect([produced.recorded(), bucket.objects]).toEqual(first);
  });

  test.each<[string, object, 'fulfilled' | 'rejected']>([
    ['that has not ended', {}, 'rejected'],
    ['that has ended', { refundThousandths: 6_000 }, 'fulfilled'],
  ])('leaves a request of another version’s status alone, and its files: %s', async (_, ended, outcome) => {
    produced.given(['/a']);
    produced.memory.patch(requestKey(REQUEST_ID), { status: 'parked', ...ended });
    bucket.put(keyOf('0.png'));

    const [run] = await Promise.allSettled([store()]);

    expect(run?.status).toBe(outcome);
    expect([...bucket.objects.keys()]).toEqual([keyOf('0.png')]);
    expect(produced.requestedPaths()).toEqual([]);
  });

  test('of a request that is not there does nothing', async () => {
    await store();

    expect(produced.memory.transactions).toEqual([]);
    expect(bucket.client.calls()).toHaveLength(0);
  });

  test.each(['succeeded', 'failed'] as const)('leaves a request that is %s alone', async (ended) => {
    produced.given(['/a'], { status: ended });

    await store();

    expect(produced.requestedPaths()).toEqual([]);
    expect(produced.recorded()).toBeUndefined();
  });
});
