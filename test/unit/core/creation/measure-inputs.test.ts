import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CreateMultipartUploadCommand, PutObjectCommand, UploadPartCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { measureInputs } from '../../../../core/creation/measure-inputs.ts';
import { anImage } from '../../../../packages/media/test/images.ts';
import { aWav } from '../../../../packages/media/test/sounds.ts';
import { STRETCHED_CLIPS } from '../../../../packages/media/test/stretched-clips.ts';
import { aVideo } from '../../../../packages/media/test/videos.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { MemoryBucket } from '../../fakes/memory-bucket.ts';
import { aClosedUrl, LoopbackServer, type ReceivedRequest } from '../../servers/loopback-server.ts';

const NO_ANSWER = 'could not be fetched: the file server did not answer';

type Serve = (request: ReceivedRequest, response: ServerResponse) => void;

const server = await new LoopbackServer().start();
let clip: Buffer;
/** Its index is last. */
let large: Buffer;
/** Its index is first. */
let aLargeClip: Buffer;
beforeAll(async () => {
  clip = await aVideo({ seconds: 5.2 });
  aLargeClip = await aVideo({ seconds: 10, frameBytes: 120_000 });
  large = await aVideo({ seconds: 10, layout: 'index-last', frameBytes: 120_000 });
});
const bucket = new MemoryBucket();
beforeEach(() => {
  server.reset();
  bucket.reset();
});
afterAll(() => server.close());

/** Sends a file. */
const whole =
  (file: Buffer, headers: Record<string, string> = {}): Serve =>
  (_, response) =>
    response.writeHead(200, headers).end(file);

const serve = (routes: Record<string, Serve>) => {
  server.respond = (request, response) => {
    const route = routes[request.path];
    if (route) route(request, response);
    else response.writeHead(404).end();
  };
};

const measure = (urls: string[], signal?: AbortSignal) =>
  withEnvironment({ ALLOW_PRIVATE_TARGETS: 'true' }, () =>
    measureInputs(
      {
        requestId: 'vid_1',
        files: urls.map((url) => ({ medium: 'video', url: url.startsWith('/') ? server.url + url : url })),
        longestSeconds: 15,
      },
      signal,
    ),
  );
const measureOne = async (route: Serve, signal?: AbortSignal) => {
  serve({ '/a': route });
  const [measured] = await measure(['/a'], signal);
  return measured;
};

/** What is in the bucket: each key with its content type and bytes. */
const stored = () =>
  Object.fromEntries([...bucket.objects].map(([key, { contentType, bytes }]) => [key, [contentType, bytes]]));
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

      const { extension, ...measured } = Object(await measureOne(whole(long)));
      expect([measured.durationMs, extension]).toEqual([30_000, undefined]);
      expect(bucket.objects.size).toBe(0);
    },
  );

  test('bills none as shorter than FFmpeg plays it, whatever its index says', async () => {
    const file = await (STRETCHED_CLIPS['an index in user data before its own'] as () => Promise<Buffer>)();

    expect(await measureOne(whole(file))).toMatchObject({ durationMs: 14_000, extension: 'mp4' });
  });

  test('takes at most 8 seconds for all of them together', async () => {
    const timeout = jest.spyOn(AbortSignal, 'timeout');
    serve({ '/a': whole(clip) });

    await measure(['/a', '/a']);

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

describe('the problem of a reference video', () => {
  const answered = (status: number) => `could not be fetched: the file server answered ${status}`;
  const BROKE_OFF = 'could not be fetched: the file broke off';
  test.each<[string, string, Serve]>([
    ['is not there', answered(404), (_, response) => response.writeHead(404).end()],
    ['is forbidden', answered(403), (_, response) => response.writeHead(403).end('<html>')],
    ['comes with a server error', answered(500), (_, response) => response.writeHead(500).end()],
    ['is a part that nobody asked for', answered(206), (_, response) => response.writeHead(206).end(clip)],
    [
      'moves on and on',
      'could not be fetched: the file server redirects more than 3 times',
      (_, response) => response.writeHead(302, { location: '/a' }).end(),
    ],
    ['breaks off before its headers', NO_ANSWER, (_, response) => response.socket?.destroy()],
    [
      'breaks off in its index',
      BROKE_OFF,
      (_, response) => {
        response.writeHead(200, { 'content-length': '5000000000' });
        response.write(clip.subarray(0, 500), () => response.socket?.destroy());
      },
    ],
    [
      'breaks off in its media',
      BROKE_OFF,
      (_, response) => {
        response.writeHead(200, { 'content-length': String(large.byteLength) });
        response.write(large.subarray(0, 6_000_000), () => response.socket?.destroy());
      },
    ],
  ])('that %s is said: %s', async (_, problem, route) => {
    serve({ '/a': route, '/b': whole(clip) });

    const measured = await measure(['/a']);

    expect(measured).toMatchObject([{ problem }]);
    expect(new Set(server.requests.map(({ path }) => path))).toEqual(new Set(['/a']));
    expect(bucket.objects.size).toBe(0);
  });

  test.each([
    'https://169.254.169.254/latest/meta-data/',
    'https://[fd00:ec2::254]/',
    'https://user@127.0.0.1/',
    'https://127.0.0.1:22/',
    'http://10.0.0.1/',
    'http://192.168.1.1/',
    'ftp://127.0.0.1/',
    'no url',
  ])('at %s, which is not called, is the same as that of one that is not there', async (url) => {
    const [refused, closed] = await measure([url, await aClosedUrl()]);

    expect(refused).toStrictEqual({ problem: NO_ANSWER });
    expect(refused).toStrictEqual(closed);
  });

  test('on the own machine is the same where private targets are not allowed', async () => {
    serve({ '/a': whole(clip) });
    const files = [{ medium: 'video' as const, url: `${server.url}/a` }];

    expect(await measureInputs({ requestId: 'vid_1', files, longestSeconds: 15 })).toStrictEqual([
      { problem: NO_ANSWER },
    ]);
    expect(server.requests).toEqual([]);
  });

  test.each<[string, string, () => Buffer]>([
    ['an HTML page', 'is not a video that can be read', () => Buffer.from('<!DOCTYPE html><html>')],
    [
      'a long HTML page',
      'is not a video that can be read',
      () => Buffer.from('<!DOCTYPE html><html>'.repeat(50_000)),
    ],
    ['an empty file', 'is not a video that can be read', () => Buffer.alloc(0)],
    ['a file cut off in its media', 'is cut off', () => clip.subarray(0, clip.byteLength - 10)],
    ['a large file cut off in its media', 'is cut off', () => aLargeClip.subarray(0, 6_000_000)],
    ['a file cut off before its index', 'is cut off', () => large.subarray(0, 1_000_000)],
    ['a file cut off in its index', 'is cut off', () => large.subarray(0, large.byteLength - 10)],
  ])('that is %s is that it %s, and no copy is left', async (_, problem, fileOf) => {
    expect(await measureOne(whole(fileOf()))).toStrictEqual({ problem });
    expect(bucket.objects.size).toBe(0);
  });

  test('that is larger than 100 MB is that, and no more of it is fetched', async () => {
    const closed = Promise.withResolvers<void>();
    const start = Buffer.concat([clip, Buffer.from('7fffffff66726565', 'hex')]);
    const measured = await measureOne((_, response) => {
      response.on('close', closed.resolve);
      response.writeHead(200);
      const endless = function* () {
        yield start;
        for (;;) yield Buffer.alloc(1024 * 1024);
      };
      Readable.from(endless(), { objectMode: false }).pipe(response);
    }, new AbortController().signal);

    expect(measured).toStrictEqual({ problem: 'is larger than 100 MB' });
    expect(bucket.objects.size).toBe(0);
    expect(bucket.abortedUploads).toEqual(['clips/vid_1/0.mp4']);
    await closed.promise;
  });

  test.each<[string, Serve]>([
    ['says nothing', () => undefined],
    ['sends its headers and no more', (_, response) => response.writeHead(200).flushHeaders()],
    [
      'sends the beginning and no more',
      (_, response) => {
        response.writeHead(200, { 'content-length': String(large.byteLength) }).write(large.subarray(0, 700));
      },
    ],
    [
      'sends the index and no more',
      (_, response) => {
        response.writeHead(200, { 'content-length': '90000000' }).write(clip);
      },
    ],
  ])('whose server %s is that it took too long, and the others are copied', async (_, silent) => {
    const stop = new AbortController();
    const slow = { isAsked: Promise.withResolvers<void>(), isClosed: Promise.withResolvers<void>() };
    serve({
      '/slow': (request, response) => {
        response.on('close', slow.isClosed.resolve);
        silent(request, response);
        slow.isAsked.resolve();
      },
      '/a': whole(clip),
    });
    const both = measure(['/a', '/slow'], stop.signal);
    await slow.isAsked.promise;
    // As long as the test may take.
    while (bucket.objects.size === 0) await nextTurn();

    stop.abort();

    expect(await both).toMatchObject([
      { durationMs: 5_200, extension: 'mp4' },
      { problem: 'could not be measured in time' },
    ]);
    expect(Object.keys(stored())).toEqual(['clips/vid_1/0.mp4']);
    await slow.isClosed.promise;
  });

  test.each([
    ['in one call', () => clip, PutObjectCommand, []],
    ['in parts', () => aLargeClip, UploadPartCommand, ['clips/vid_1/0.mp4']],
  ])(
    'that the bucket does not take in time, %s, is measured once no call is under way',
    async (_, fileOf, kind, removed) => {
      const stop = new AbortController();
      const calls: Promise<unknown>[] = [];
      bucket.client.on(kind as typeof PutObjectCommand).callsFake(() => {
        const call = Promise.withResolvers<never>();
        stop.signal.addEventListener('abort', () => setImmediate(() => call.reject(stop.signal.reason)));
        calls.push(call.promise);
        return call.promise;
      });
      let over = 0;
      serve({ '/a': whole(fileOf()) });
      const measured = measure(['/a'], stop.signal);
      // As long as the test may take.
      while (calls.length === 0) await nextTurn();
      for (const call of calls) call.catch(() => over++);

      stop.abort();

      expect(await measured).toEqual([{ problem: 'could not be measured in time' }]);
      expect(over).toBe(calls.length);
      const sent = bucket.client.commandCalls(kind as typeof PutObjectCommand);
      for (const { args } of sent) expect((args as unknown[])[1]).toEqual({ abortSignal: stop.signal });
      expect(bucket.abortedUploads).toEqual(removed);
      expect(bucket.objects.size).toBe(0);
    },
  );

  test('is known at once when the time is already over', async () => {
    serve({ '/a': whole(clip) });

    const measured = await measure(['/a'], AbortSignal.abort());

    expect(measured).toStrictEqual([{ problem: 'could not be measured in time' }]);
    expect(server.requests).toEqual([]);
  });
});

describe('measuring images and sounds', () => {
  const measureAs = async (medium: 'image' | 'audio', bytes: Buffer) => {
    serve({ '/file': whole(bytes) });
    const files = [
      { medium, url: `${server.url}/file` },
      { medium, base64: bytes.toString('base64') },
    ];
    return withEnvironment({ ALLOW_PRIVATE_TARGETS: 'true' }, () =>
      measureInputs({ requestId: 'img_1', files, longestSeconds: 15 }),
    );
  };

  test('gives the facts of a file at a URL and of bytes, and stores nothing', async () => {
    const png = await anImage(300, 200, 'png');
    const facts = {
      contentType: 'image/png',
      sizeBytes: png.length,
      width: 300,
      height: 200,
      hasAlpha: false,
    };
    const wav = aWav({ seconds: 2 });

    expect(await measureAs('image', png)).toStrictEqual([facts, facts]);
    const sound = { contentType: 'audio/wav', sizeBytes: wav.length, durationMs: 2_000 };
    expect(await measureAs('audio', wav)).toStrictEqual([sound, sound]);
    expect(bucket.objects.size).toBe(0);
  });

  test.each<['image' | 'audio', string, () => Promise<Buffer> | Buffer]>([
    ['image', 'is not an image that can be read', () => Buffer.from('<html>')],
    ['image', 'is not an image that can be read', () => aWav()],
    ['image', 'is cut off', async () => (await anImage(300, 200, 'png')).subarray(0, 500)],
    ['image', 'is cut off', async () => (await anImage(300, 200, 'jpeg')).subarray(0, 600)],
    ['image', 'is cut off', async () => (await anImage(300, 200, 'webp')).subarray(0, 60)],
    ['audio', 'is not an MP3 or WAV sound', () => anImage(300, 200, 'png')],
    ['audio', 'is cut off', () => aWav().subarray(0, 1_000)],
  ])('says of such an %s: %s', async (medium, problem, fileOf) => {
    expect(await measureAs(medium, await fileOf())).toStrictEqual([{ problem }, { problem }]);
  });

  test('fetches no more of a file than any provider takes', async () => {
    serve({ '/file': whole(Buffer.alloc(17 * 1024 * 1024)) });
    const files = [{ medium: 'audio' as const, url: `${server.url}/file` }];

    const measured = await withEnvironment({ ALLOW_PRIVATE_TARGETS: 'true' }, () =>
      measureInputs({ requestId: 'img_1', files, longestSeconds: 15 }),
    );

    expect(measured).toStrictEqual([{ problem: 'is larger than 16 MB' }]);
  });
});
