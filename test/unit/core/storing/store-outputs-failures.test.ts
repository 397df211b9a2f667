import '../../builders/environment.ts';
import { Readable } from 'node:stream';
import { PutObjectCommand, UploadPartCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { circuitKey, providerAttemptKey } from '../../../../core/table/keys.ts';
import { anImage } from '../../../../packages/media/test/images.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import { anAttempt, REQUEST_ID } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { file, keyOf, ProducedOutputs, status, withMetadata } from '../../builders/produced-outputs.ts';
import { aDone } from '../../builders/providers.ts';
import { aClosedUrl } from '../../servers/loopback-server.ts';

const pause = jest.fn(async (_milliseconds: number) => undefined);
jest.unstable_mockModule('node:timers/promises', () => ({ setTimeout: pause }));
const { storeOutputs } = await import('../../../../core/storing/store-outputs.ts');

process.env.ALLOW_PRIVATE_TARGETS = 'true';
const produced = await new ProducedOutputs().start();
const { bucket, server, png } = produced;
const store = () => storeOutputs(REQUEST_ID, new StoppedClock());
/** A run when the time for storing is over: 15 min after the outputs were produced. */
const storeAtTheEnd = () => storeOutputs(REQUEST_ID, new StoppedClock(atSeconds(900)));
beforeEach(() => {
  produced.reset();
  pause.mockClear();
});
afterAll(() => server.close());

describe('an output that cannot be stored', () => {
  /** Nothing is stored, and the state machine runs the step again. */
  const pending = async (times: number) => {
    await expect(store()).rejects.toMatchObject({ name: 'OutputsPendingError' });
    expect(produced.recorded()).toBeUndefined();
    expect(bucket.objects.size).toBe(0);
    expect(produced.requestedPaths()).toHaveLength(times);
  };

  const noFile = (times: number) => {
    expect(produced.recorded()).toStrictEqual([{ index: 0 }]);
    expect(bucket.objects.size).toBe(0);
    expect(produced.requestedPaths()).toHaveLength(times);
  };

  test.each([400, 403, 404, 410])('because of status %p is given up at once', async (code) => {
    produced.serve({ '/a': status(code) });
    produced.given(['/a']);
    await store();

    noFile(1);
    expect(pause).not.toHaveBeenCalled();
  });

  test('because of a redirect is given up: redirects are not followed', async () => {
    produced.serve({
      '/a': (response) => response.writeHead(302, { location: '/b' }).end(),
      '/b': file(png),
    });
    produced.given(['/a']);
    await store();

    noFile(1);
  });

  test.each([429, 500, 502, 503])(
    'because of status %p is attempted three times, with pauses, and then again by the state machine',
    async (code) => {
      produced.serve({ '/a': status(code) });
      produced.given(['/a']);
      await pending(3);
      expect(pause.mock.calls).toEqual([[500], [1000]]);
    },
  );

  test('is stored when a later attempt succeeds', async () => {
    produced.serve({
      '/a': (response, time) => (time < 3 ? status(503) : file(png))(response, time),
    });
    produced.given(['/a']);
    await store();

    expect(produced.recorded()).toMatchObject([{ index: 0, objectKey: keyOf('0.png') }]);
    expect(produced.requestedPaths()).toHaveLength(3);
  });

  test.each(['<html>no image</html>', '', '\x89PNG\r\n\x1a\n'])(
    'because it is not an image (%j) is given up at once',
    async (body) => {
      produced.serve({ '/a': file(Buffer.from(body, 'latin1')) });
      produced.given(['/a']);
      await store();

      noFile(1);
    },
  );

  test('because we do not deliver its image type is given up at once', async () => {
    const gif = await anImage(8, 8, 'gif');
    produced.serve({ '/a': file(gif) });
    produced.given(['/a']);
    await store();

    noFile(1);
  });

  test.each([
    ['in its header', 20],
    ['after its header', 100],
  ])('because the connection breaks %s is attempted again, and nothing of it is stored', async (_, bytes) => {
    produced.serve({
      '/a': (response) => {
        response.writeHead(200, { 'content-length': String(png.byteLength) });
        response.write(png.subarray(0, bytes), () => response.socket?.destroy());
      },
    });
    produced.given(['/a']);
    await pending(3);
  });

  test('because a large download broke off leaves no parts behind', async () => {
    produced.serve({
      '/a': (response) => {
        response.writeHead(200, { 'content-length': String(20 * 1024 * 1024) });
        const part = Buffer.concat([png, Buffer.alloc(11 * 1024 * 1024)]);
        response.write(part, () => response.socket?.destroy());
      },
    });
    produced.given(['/a']);
    await pending(3);
    expect(bucket.abortedUploads).toEqual(Array(3).fill(keyOf('0.png')));
  });

  test('because the connection was refused is attempted again', async () => {
    produced.given([`${await aClosedUrl()}/a`]);
    await pending(0);
    expect(pause).toHaveBeenCalledTimes(2);
  });

  test('because the bucket refused it is attempted again', async () => {
    produced.serve({ '/a': file(png) });
    bucket.client.on(PutObjectCommand).rejects(new Error('no bucket'));
    produced.given(['/a']);
    await pending(3);
  });

  test('because its time was up is attempted again', async () => {
    jest.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
    produced.given(['/a']);
    await pending(0);
    jest.restoreAllMocks();
  });

  test('keeps the others, and only the rest is fetched again', async () => {
    const [reachable, gone] = [file(png), status(404)];
    produced.serve({ '/a': reachable, '/b': status(503), '/c': reachable, '/d': gone });
    produced.given(['/a', '/b', '/c', '/d']);
    await expect(store()).rejects.toMatchObject({ name: 'OutputsPendingError' });

    const [times, puts] = [produced.requestedPaths(), bucket.client.commandCalls(PutObjectCommand).length];
    produced.serve({ '/a': gone, '/b': reachable, '/c': gone, '/d': gone });
    await store();

    expect(produced.requestedPaths().slice(times.length).toSorted()).toEqual(['/b', '/d']);
    expect(bucket.client.commandCalls(PutObjectCommand)).toHaveLength(puts + 1);
    expect(produced.recorded()).toMatchObject([
      { index: 0, objectKey: keyOf('0.png') },
      { index: 1, objectKey: keyOf('1.png') },
      { index: 2, objectKey: keyOf('2.png') },
      { index: 3 },
    ]);
    expect((produced.recorded() as object[])[3]).toStrictEqual({ index: 3 });
  });

  test('is left out when the time for storing is over, and what is stored is delivered', async () => {
    produced.serve({ '/a': file(png), '/b': status(503) });
    produced.given(['/a', '/b']);
    await expect(store()).rejects.toMatchObject({ name: 'OutputsPendingError' });
    await storeAtTheEnd();

    expect(produced.recorded()).toMatchObject([{ objectKey: keyOf('0.png') }, {}]);
    expect((produced.recorded() as object[])[1]).toStrictEqual({ index: 1 });
  });

  test('counts a failed task of its route once, however often storing is repeated', async () => {
    produced.serve({ '/a': status(503) });
    produced.given(['/a']);
    const failed = { kind: 'failed', failure: { code: 'provider_error', message: 'no' } } as const;
    for (const [call, outcome] of [[0, aDone(`${server.url}/a`)] as const, [1, failed] as const]) {
      const attempt = anAttempt({ call, taskId: `task-${call}`, outcome, circuit: 'failures' });
      produced.memory.put(providerAttemptKey(REQUEST_ID, call, 0), attempt);
    }
    for (let count = 0; count < 3; count++)
      await expect(store()).rejects.toMatchObject({ name: 'OutputsPendingError' });
    await storeAtTheEnd();

    const circuit = produced.memory.get(circuitKey('modelstudio/qwen-image')) ?? {};
    const counts = Object.entries(circuit).filter(([name]) => name.startsWith('tasks-bad#'));
    expect(counts.map(([, count]) => count)).toEqual([1]);
  });

  test('survives an outage of the bucket of 10 min', async () => {
    produced.serve({ '/a': file(png) });
    produced.given(['/a']);
    bucket.client.on(PutObjectCommand).rejects(new Error('slow down'));
    for (const seconds of [0, 300, 599]) {
      await expect(storeOutputs(REQUEST_ID, new StoppedClock(atSeconds(seconds)))).rejects.toThrow(
        'not stored',
      );
    }
    bucket.reset();
    await storeOutputs(REQUEST_ID, new StoppedClock(atSeconds(600)));

    expect(produced.recorded()).toMatchObject([{ objectKey: keyOf('0.png') }]);
  });

  test('does not affect the others', async () => {
    produced.serve({ '/a': file(png), '/c': file(png) });
    produced.given(['/a', '/b', '/c']);
    await store();

    expect(produced.recorded()).toMatchObject([
      { objectKey: keyOf('0.png') },
      {},
      { objectKey: keyOf('2.png') },
    ]);
    expect((produced.recorded() as object[])[1]).toStrictEqual({ index: 1 });
  });

  test.each(['false', ''])(
    'because its URL is plain http is not requested when private targets are "%s"',
    async (allowed) => {
      produced.serve({ '/a': file(png) });
      produced.given(['/a']);
      await withEnvironment({ ALLOW_PRIVATE_TARGETS: allowed }, store);

      noFile(0);
      expect(pause).not.toHaveBeenCalled();
    },
  );

  test('because its URL is invalid is recorded without a file', async () => {
    produced.given(['no url']);
    await store();

    noFile(0);
  });

  test('because its size is not found within 1 MiB is given up', async () => {
    const jpeg = await anImage(30, 20, 'jpeg');
    produced.serve({ '/a': file(withMetadata(jpeg, 18)) });
    produced.given(['/a']);
    await store();

    noFile(1);
  });

  test('because it is larger than 256 MiB is given up, and leaves no parts behind', async () => {
    const part = Buffer.alloc(4 * 1024 * 1024);
    produced.serve({
      '/a': (response) => {
        const parts = function* () {
          yield png;
          for (let count = 0; count < 64; count++) yield part;
        };
        Readable.from(parts()).pipe(response.writeHead(200));
      },
    });
    bucket.client.on(UploadPartCommand).resolves({ ETag: 'kept nowhere' });
    produced.given(['/a']);
    await store();

    noFile(1);
    expect(bucket.abortedUploads).toEqual([keyOf('0.png')]);
  });

  test.each([
    ['it is not an image', 200],
    ['it is not there', 404],
  ])('because %s is aborted, however much more its server would send', async (_, code) => {
    const closed = Promise.withResolvers<void>();
    server.respond = (_request, response) => {
      response.on('close', closed.resolve);
      response.writeHead(code).write(Buffer.alloc(2 * 1024 * 1024));
    };
    produced.given(['/a']);
    await store();

    noFile(1);
    await closed.promise;
  });
});
