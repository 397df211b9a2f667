import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { GenerationClient, type GenerationRecord, RequestFailedError, TimeoutError } from '../src/index.ts';
import { FaultyServer, json } from './server.ts';
import { restoreTimers, watchTimers } from './timers.ts';

const server = await new FaultyServer().start();
afterAll(() => server.close());
afterEach(() => restoreTimers());
const client = new GenerationClient({ baseUrl: server.url, apiKey: 'gsk_test' });

const record = (status: string, more: object = {}) => json(200, { requestId: 'img_1', status, ...more });
const IMAGES = { requestId: 'img_1', status: 'queued', referencesCount: 0 } as const;

describe('waitFor', () => {
  test.each(['succeeded', 'failed', 'expired'])('returns a record that is %s', async (status) => {
    server.answer(record(status));

    expect(await client.waitFor({ requestId: 'img_1' })).toEqual({ requestId: 'img_1', status });
    expect(server.seen).toHaveLength(1);
  });

  test('reads about every 5 s, of a record that is given the first time after a pause', async () => {
    const timers = watchTimers();
    server.answer(record('queued'), record('processing'), record('processing'), record('succeeded'));
    await client.waitFor(IMAGES);

    expect(server.seen).toHaveLength(4);
    expect(timers.pauses).toHaveLength(4);
    for (const pause of timers.pauses) {
      expect(pause).toBeGreaterThanOrEqual(4_500);
      expect(pause).toBeLessThanOrEqual(5_500);
    }
    expect(new Set(timers.pauses).size).toBeGreaterThan(1);
    expect(timers.open()).toBe(0);
  });

  test('tells of each status once, when it changes', async () => {
    watchTimers();
    const seen: string[] = [];
    server.answer(
      record('queued'),
      record('queued'),
      record('processing'),
      record('processing'),
      record('failed'),
    );
    await client.waitFor({ requestId: 'img_1' }, { onStatus: ({ status }) => seen.push(status) });

    expect(seen).toEqual(['queued', 'processing', 'failed']);
  });

  test('waits through a status of a later version, at the same pace', async () => {
    const timers = watchTimers();
    server.answer(record('upscaling'), record('upscaling'), record('succeeded'));
    await client.waitFor({ requestId: 'img_1' });

    expect(server.seen).toHaveLength(3);
    expect(timers.pauses).toHaveLength(2);
  });

  test('ends with a TimeoutError once its time is over, after a last read, and leaves the request alone', async () => {
    const { pauses } = watchTimers();
    server.answer(record('processing'));

    await expect(client.waitFor(IMAGES, { timeoutSeconds: 0.2 })).rejects.toBeInstanceOf(TimeoutError);
    // The usual pause would be one of seconds.
    expect(pauses).toEqual([]);
    expect(server.seen.map(({ method }) => method)).toEqual(['GET']);
  });

  test('finds in its last read what has ended meanwhile', async () => {
    server.answer(record('processing'), record('succeeded'));

    const { status } = await client.waitFor({ requestId: 'img_1' }, { timeoutSeconds: 0.2 });

    expect(status).toBe('succeeded');
  });

  test('reads videos where videos are', async () => {
    server.answer(record('succeeded'));
    await client.waitFor({ requestId: 'vid_1' });

    expect(server.seen[0]?.path).toBe('/v1/videos/vid_1');
  });
});

describe('waitForSuccess', () => {
  test('returns a record with its items', async () => {
    server.answer(record('succeeded', { images: [{ id: 'img_1_0', url: 'https://a.example/' }] }));

    const { images } = await client.waitForSuccess({ requestId: 'img_1', referencesCount: 0 });

    expect(images.map((image) => ('url' in image ? image.url : image.error.code))).toEqual([
      'https://a.example/',
    ]);
  });

  test.each<[GenerationRecord['status'], object, string]>([
    ['failed', { error: { code: 'content_policy', message: 'No.' } }, 'content_policy: No.'],
    ['expired', {}, 'expired'],
  ])('throws for one that is %s', async (status, more, why) => {
    server.answer(record(status, more));
    const error = await client
      .waitForSuccess({ requestId: 'img_1', referencesCount: 0 })
      .catch((thrown) => thrown);

    expect(error).toBeInstanceOf(RequestFailedError);
    expect(error.record.status).toBe(status);
    expect(error.message).toContain(why);
  });
});
