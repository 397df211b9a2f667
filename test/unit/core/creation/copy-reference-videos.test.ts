import { setImmediate as nextTurn } from 'node:timers/promises';
import { CreateMultipartUploadCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, jest, test } from '@jest/globals';
import { STRETCHED_CLIPS } from '../../../../packages/media/test/stretched-clips.ts';
import { aVideo } from '../../../../packages/media/test/videos.ts';
import {
  bucket,
  measure,
  measureFiles,
  measureOne,
  type Serve,
  serve,
  server,
  stored,
  whole,
} from './a-file-server.ts';
import { clip, large } from './reference-videos.ts';

const storedBytes = (key: string) => bucket.objects.get(key)?.bytes;

describe('copying reference videos', () => {
  test('gives the length of each in milliseconds, in their order, and keeps the very bytes that were measured', async () => {
    const [mov, webm] = [
      await aVideo({ seconds: 3, container: 'mov' }),
      await aVideo({ seconds: 7.5, container: 'webm' }),
    ];
    serve({ '/a': whole(clip), '/b': whole(mov), '/c': whole(webm) });

    const measured = await measure(['/c', '/a', '/gone', '/b']);

    const picture = { width: 640, height: 360, framesPerSecond: expect.closeTo(10, 1) };
    expect(measured).toStrictEqual([
      ...[
        {
          ...picture,
          contentType: 'video/webm',
          sizeBytes: webm.length,
          durationMs: 7_500,
          extension: 'webm',
        },
        { ...picture, contentType: 'video/mp4', sizeBytes: clip.length, durationMs: 5_200, extension: 'mp4' },
      ],
      { problem: 'could not be fetched: the file server answered 404', status: 404 },
      {
        ...picture,
        contentType: 'video/quicktime',
        sizeBytes: mov.length,
        durationMs: 3_000,
        extension: 'mov',
      },
    ]);
    expect(stored()).toEqual({
      'clips/vid_1/0.webm': ['video/webm', webm],
      'clips/vid_1/1.mp4': ['video/mp4', clip],
      'clips/vid_1/3.mov': ['video/quicktime', mov],
    });
  });

  test('of none asks nobody', async () => {
    expect(await measure([])).toEqual([]);
  });

  test('fetches each once: what the server would show the next time does not matter', async () => {
    let fetches = 0;
    const changing: Serve = (request, response) => whole(++fetches === 1 ? clip : large)(request, response);

    expect(await measureOne(changing)).toMatchObject({ durationMs: 5_200, extension: 'mp4' });
    expect(fetches).toBe(1);
    expect(server.requests[0]?.headers['accept-encoding']).toBe('identity');
    expect(storedBytes('clips/vid_1/0.mp4')).toEqual(clip);
  });

  test.each([
    { layout: 'index-first' },
    { layout: 'index-last' },
    { layout: 'fragments' },
    { container: 'webm' },
  ] as const)('copies a large file in parts: %j', async (options) => {
    const file = await aVideo({ ...options, seconds: 10, frameBytes: 120_000 });

    const measured = await measureOne(whole(file));

    expect(measured).toMatchObject({ durationMs: 10_000 });
    const [object] = [...bucket.objects.values()];
    expect(object?.bytes.equals(file)).toBe(true);
    expect(object?.parts.length).toBeGreaterThan(1);
  });

  test.each([{ layout: 'index-first' }, { layout: 'fragments' }, { container: 'webm' }] as const)(
    'copies none that is longer than allowed: %j',
    async (options) => {
      const long = await aVideo({ ...options, seconds: 30, frameBytes: 30_000 });

      const contentType = 'container' in options ? 'video/webm' : 'video/mp4';
      expect(await measureOne(whole(long))).toStrictEqual({ contentType, sizeBytes: 0, durationMs: 30_000 });
      expect(bucket.objects.size).toBe(0);
    },
  );

  test('copies one of exactly the longest length', async () => {
    const longest = await aVideo({ seconds: 15 });

    expect(await measureOne(whole(longest))).toMatchObject({ durationMs: 15_000, extension: 'mp4' });
    expect(bucket.objects.size).toBe(1);
  });

  test('bills none as shorter than FFmpeg plays it, whatever its index says', async () => {
    const file = await (STRETCHED_CLIPS['an index in user data before its own'] as () => Promise<Buffer>)();

    expect(await measureOne(whole(file))).toMatchObject({ durationMs: 14_000, extension: 'mp4' });
  });

  test('takes at most 8 seconds for all of them together', async () => {
    const timeout = jest.spyOn(AbortSignal, 'timeout');
    serve({ '/a': whole(clip) });

    await measureFiles(Array(2).fill({ medium: 'video', url: `${server.url}/a` }));

    expect(timeout.mock.calls).toEqual([[8_000]]);
    timeout.mockRestore();
  });

  test('asks all servers at once', async () => {
    const waiting: (() => void)[] = [];
    const together: Serve = (request, response) => {
      waiting.push(() => whole(clip)(request, response));
      if (waiting.length === 5) for (const answer of waiting) answer();
    };
    serve({ '/a': together, '/b': together, '/c': together, '/d': together, '/e': together });

    const measured = await measure(['/a', '/b', '/c', '/d', '/e']);

    expect(measured).toMatchObject(Array(5).fill({ durationMs: 5_200, extension: 'mp4' }));
    expect(bucket.objects.size).toBe(5);
  });

  test.each([
    ['a small file', () => clip],
    ['a file in parts', () => large],
  ])('rejects when the bucket does not take %s, which is no problem of the clip', async (_, fileOf) => {
    const refusal = Object.assign(new Error('Slow down.'), { name: 'SlowDown' });
    bucket.client.on(PutObjectCommand).rejects(refusal);
    bucket.client.on(CreateMultipartUploadCommand).rejects(refusal);

    await expect(measureOne(whole(fileOf()))).rejects.toBe(refusal);
  });

  test('rejects once the copies of the others have ended: the caller removes them all', async () => {
    const { promise: second, resolve: end } = Promise.withResolvers<object>();
    bucket.client
      .on(PutObjectCommand)
      .rejectsOnce(new Error('Access Denied'))
      .callsFake(() => second);
    serve({ '/a': whole(clip), '/b': whole(clip) });
    let isOver = false;
    const copied = measure(['/a', '/b']).finally(() => {
      isOver = true;
    });
    const outcome = expect(copied).rejects.toThrow('Access Denied');

    while (bucket.client.commandCalls(PutObjectCommand).length < 2) await nextTurn();
    for (let turn = 0; turn < 100; turn++) await nextTurn();
    expect(isOver).toBe(false);
    end({});
    await outcome;
  });
});

test('a reference video that moved is measured where it is', async () => {
  serve({ '/a': (_, response) => response.writeHead(302, { location: '/b' }).end(), '/b': whole(clip) });

  expect(await measure(['/a'])).toMatchObject([{ durationMs: 5_200, extension: 'mp4' }]);
  expect(server.requests.map(({ path }) => path)).toEqual(['/a', '/b']);
});
