import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AbortMultipartUploadCommand, PutObjectCommand, UploadPartCommand } from '@aws-sdk/client-s3';
import { describe, expect, test } from '@jest/globals';
import { measureInputs } from '../../../../core/creation/measure-inputs.ts';
import { aClosedUrl } from '../../servers/loopback-server.ts';
import {
  bucket,
  measure,
  measureOne,
  NO_ANSWER,
  type Serve,
  serve,
  server,
  stored,
  whole,
} from './a-file-server.ts';
import { aLargeClip, clip, large } from './reference-videos.ts';

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
      // The parts are removed in spite of the signal.
      for (const { args } of bucket.client.commandCalls(AbortMultipartUploadCommand))
        expect((args as unknown[])[1]).toEqual({});
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
