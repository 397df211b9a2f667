import '../../builders/environment.ts';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { measureReferenceVideos } from '../../../../core/creation/reference-videos.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aBox, aVideo } from '../../builders/videos.ts';
import { aClosedUrl, LoopbackServer, type ReceivedRequest } from '../../servers/loopback-server.ts';

type Serve = (request: ReceivedRequest, response: ServerResponse) => void;

const server = await new LoopbackServer().start();
let clip: Buffer;
let large: Buffer;
beforeAll(async () => {
  clip = await aVideo({ seconds: 5.2 });
  large = await aVideo({ seconds: 10, layout: 'index-last', frameBytes: 120_000 });
});
beforeEach(() => server.reset());
afterAll(() => server.close());

/** Answers ranges of a file, of which it may lie about the size. */
const withRanges =
  (file: Buffer, size: number | '*' = file.byteLength): Serve =>
  ({ headers }, response) => {
    const [, start = '', end = ''] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    const part = file.subarray(Number(start), Number(end) + 1);
    if (part.byteLength === 0)
      return void response.writeHead(416, { 'content-range': `bytes */${size}` }).end();
    const last = Number(start) + part.byteLength - 1;
    response.writeHead(206, { 'content-range': `bytes ${start}-${last}/${size}` }).end(part);
  };

/** Sends all of a file, whatever part is asked for. */
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
    measureReferenceVideos(
      urls.map((url) => (url.startsWith('/') ? server.url + url : url)),
      signal,
    ),
  );
const measureOne = async (route: Serve, signal?: AbortSignal) => {
  serve({ '/a': route });
  const [measured] = await measure(['/a'], signal);
  return measured;
};

describe('measuring reference videos', () => {
  test('gives the length of each in milliseconds, in their order', async () => {
    serve({
      '/a': withRanges(clip),
      '/b': withRanges(await aVideo({ seconds: 3, container: 'mov' })),
      '/c': withRanges(await aVideo({ seconds: 7.5, container: 'webm' })),
    });

    const measured = await measure(['/c', '/a', '/gone', '/b']);

    expect(measured).toStrictEqual([
      { durationMs: 7_500 },
      { durationMs: 5_200 },
      { problem: 'could not be fetched' },
      { durationMs: 3_000 },
    ]);
  });

  test('of none asks nobody', async () => {
    expect(await measure([])).toEqual([]);
  });

  test('reads only the parts it needs, over one connection', async () => {
    const connections = new Set<unknown>();

    const measured = await measureOne((request, response) => {
      connections.add(response.socket);
      withRanges(large)(request, response);
    });

    expect(measured).toEqual({ durationMs: 10_000 });
    const index = large.indexOf('moov') - 4;
    expect(server.requests.map(({ headers }) => headers.range)).toEqual([
      'bytes=0-262143',
      `bytes=${index}-${index + 262_143}`,
    ]);
    expect(server.requests[0]?.headers['accept-encoding']).toBe('identity');
    expect(connections.size).toBe(1);
  });

  test('reads a large file in fragments from one to the next', async () => {
    const fragments = await aVideo({ seconds: 10, layout: 'fragments', frameBytes: 60_000 });

    expect(await measureOne(withRanges(fragments))).toEqual({ durationMs: 10_000 });
    expect(server.requests.length).toBeLessThanOrEqual(12);
  });

  test('needs no size of the file', async () => {
    expect(await measureOne(withRanges(large, '*'))).toEqual({ durationMs: 10_000 });
  });

  test.each(['first', 'last'] as const)(
    'reads a file from its start where the server knows no ranges, the index %s',
    async (place) => {
      const file = await aVideo({ seconds: 4, layout: `index-${place}`, frameBytes: 50_000 });

      expect(await measureOne(whole(file))).toEqual({ durationMs: 4_000 });
      expect(server.requests).toHaveLength(1);
    },
  );

  test('lets go of a server without ranges as soon as it knows', async () => {
    const closed = Promise.withResolvers<void>();
    const sendsOn: Serve = (_, response) => {
      response.on('close', closed.resolve);
      response.writeHead(200, { 'content-length': '5000000000' });
      response.write(Buffer.concat([clip, Buffer.alloc(300_000)]));
    };

    const measured = await measureOne(sendsOn, new AbortController().signal);

    expect(measured).toEqual({ durationMs: 5_200 });
    await closed.promise;
  });

  test('takes at most 8 seconds for all of them together', async () => {
    const timeout = jest.spyOn(AbortSignal, 'timeout');
    serve({ '/a': withRanges(clip) });

    await measure(['/a', '/a']);

    expect(timeout.mock.calls).toEqual([[8_000]]);
    timeout.mockRestore();
  });

  test('asks all servers at once', async () => {
    const waiting: (() => void)[] = [];
    const together: Serve = (request, response) => {
      waiting.push(() => withRanges(clip)(request, response));
      if (waiting.length === 5) for (const answer of waiting) answer();
    };
    serve({ '/a': together, '/b': together, '/c': together, '/d': together, '/e': together });

    const measured = await measure(['/a', '/b', '/c', '/d', '/e']);

    expect(measured).toEqual(Array(5).fill({ durationMs: 5_200 }));
  });
});

describe('the problem of a reference video', () => {
  test.each<[string, Serve]>([
    ['is not there', (_, response) => response.writeHead(404).end()],
    ['is forbidden', (_, response) => response.writeHead(403).end('<html>')],
    ['comes with a server error', (_, response) => response.writeHead(500).end()],
    ['moved', (_, response) => response.writeHead(302, { location: '/b' }).end()],
    ['breaks off before its headers', (_, response) => response.socket?.destroy()],
    [
      'breaks off in a part',
      (_, response) => {
        response.writeHead(206, { 'content-range': 'bytes 0-999/5000', 'content-length': '1000' });
        response.write(clip.subarray(0, 500), () => response.socket?.destroy());
      },
    ],
    [
      'breaks off in the whole',
      (_, response) => {
        response.writeHead(200, { 'content-length': '5000000000' });
        response.write(clip.subarray(0, 500), () => response.socket?.destroy());
      },
    ],
    [
      'is another part',
      (_, response) => response.writeHead(206, { 'content-range': 'bytes 7-9/10' }).end('abc'),
    ],
    ['is a part of nothing', (_, response) => response.writeHead(206).end(clip)],
  ])('that %s is that it could not be fetched', async (_, route) => {
    serve({ '/a': route, '/b': withRanges(clip) });

    const measured = await measure(['/a']);

    expect(measured).toStrictEqual([{ problem: 'could not be fetched' }]);
    expect(server.requests.map(({ path }) => path)).toEqual(['/a']);
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

    expect(refused).toStrictEqual({ problem: 'could not be fetched' });
    expect(refused).toStrictEqual(closed);
  });

  test('on the own machine is the same where private targets are not allowed', async () => {
    serve({ '/a': withRanges(clip) });

    const measured = await measureReferenceVideos([`${server.url}/a`]);

    expect(measured).toStrictEqual([{ problem: 'could not be fetched' }]);
    expect(server.requests).toEqual([]);
  });

  test.each<[string, string, () => Buffer]>([
    ['an HTML page', 'is not an MP4, QuickTime or WebM video', () => Buffer.from('<!DOCTYPE html><html>')],
    ['an empty file', 'is not an MP4, QuickTime or WebM video', () => Buffer.alloc(0)],
    ['a file cut off in its media', 'is cut off', () => clip.subarray(0, clip.byteLength - 10)],
    ['a file cut off before its index', 'is cut off', () => large.subarray(0, 1_000_000)],
    ['a file cut off in its index', 'is cut off', () => large.subarray(0, large.byteLength - 10)],
  ])('that is %s is that it %s', async (_, problem, fileOf) => {
    expect(await measureOne(withRanges(fileOf()))).toStrictEqual({ problem });
    expect(await measureOne(whole(fileOf()))).toStrictEqual({ problem });
  });

  test('that is shorter than its media is that it is cut off, though nobody reads so far', async () => {
    const file = (await aVideo({ frameBytes: 120_000 })).subarray(0, 1_000_000);

    expect(await measureOne(withRanges(file))).toStrictEqual({ problem: 'is cut off' });
    expect(await measureOne(whole(file, { 'content-length': '1000000' }))).toStrictEqual({
      problem: 'is cut off',
    });
  });

  test('of large indexes is that, once 16 MiB were read', async () => {
    const index = aBox('moof', aBox('free', Buffer.alloc(6 * 1024 * 1024)));
    const file = Buffer.concat([
      await aVideo({ layout: 'fragments', seconds: 1 }),
      index,
      index,
      index,
      index,
    ]);

    const measured = await measureOne(withRanges(file));

    expect(measured).toStrictEqual({ problem: 'has too large an index' });
    expect(server.requests.length).toBeLessThan(6);
  });

  test('that lies about its size is told by what is there', async () => {
    const lying = withRanges(large.subarray(0, 1_000_000), 5_000_000_000);

    expect(await measureOne(lying)).toStrictEqual({ problem: 'is cut off' });
    expect(server.requests).toHaveLength(2);
  });

  test('whose server knows no ranges and puts the index far away is that of its server', async () => {
    const far = Buffer.concat([
      clip.subarray(0, 28),
      aBox('free', Buffer.alloc(17 * 1024 * 1024)),
      clip.subarray(28),
    ]);

    const measured = await measureOne((_, response) => {
      response.writeHead(200);
      Readable.from(far, { objectMode: false }).pipe(response);
    });

    expect(measured).toStrictEqual({ problem: 'must be on a server that answers range requests' });
    expect(await measureOne(withRanges(far))).toStrictEqual({ durationMs: 5_200 });
  });

  test('of more fragments than are worth a request each is that', async () => {
    const fragments = await aVideo({ seconds: 70, layout: 'fragments', frameBytes: 40_000 });

    expect(await measureOne(withRanges(fragments))).toStrictEqual({
      problem: 'takes too many requests to read',
    });
    expect(server.requests).toHaveLength(48);
  });

  test.each<[string, Serve]>([
    ['says nothing', () => undefined],
    ['sends its headers and no more', (_, response) => response.writeHead(200).flushHeaders()],
    [
      'sends the beginning of a part and no more',
      (_, response) => {
        const headers = { 'content-range': 'bytes 0-262143/5000000', 'content-length': '262144' };
        response.writeHead(206, headers).write(clip.subarray(0, 700));
      },
    ],
  ])('whose server %s is that it took too long, and the others are measured', async (_, silent) => {
    const stop = new AbortController();
    const slow = { isAsked: Promise.withResolvers<void>(), isClosed: Promise.withResolvers<void>() };
    const otherIsClosed = Promise.withResolvers<void>();
    serve({
      '/slow': (request, response) => {
        response.on('close', slow.isClosed.resolve);
        silent(request, response);
        slow.isAsked.resolve();
      },
      '/a': (request, response) => {
        // Its connection is closed once the file was measured.
        response.socket?.on('close', otherIsClosed.resolve);
        withRanges(clip)(request, response);
      },
    });
    const both = measure(['/a', '/slow'], stop.signal);
    await Promise.all([slow.isAsked.promise, otherIsClosed.promise]);

    stop.abort();

    expect(await both).toStrictEqual([{ durationMs: 5_200 }, { problem: 'could not be measured in time' }]);
    await slow.isClosed.promise;
  });

  test('is known at once when the time is already over', async () => {
    serve({ '/a': withRanges(clip) });

    const measured = await measure(['/a'], AbortSignal.abort());

    expect(measured).toStrictEqual([{ problem: 'could not be measured in time' }]);
    expect(server.requests).toEqual([]);
  });
});
