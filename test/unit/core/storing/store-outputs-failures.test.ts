import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { anImage } from '../../../../packages/media/test/images.ts';
import { StoppedClock } from '../../builders/clocks.ts';
import { REQUEST_ID } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import {
  type Answer,
  breaking,
  file,
  keyOf,
  ProducedOutputs,
  status,
  withMetadata,
} from '../../builders/produced-outputs.ts';
import { aClosedUrl } from '../../servers/loopback-server.ts';

const pause = jest.fn(async (_milliseconds: number) => undefined);
jest.unstable_mockModule('node:timers/promises', () => ({ setTimeout: pause }));
const { storeOutputs } = await import('../../../../core/storing/store-outputs.ts');

process.env.ALLOW_PRIVATE_TARGETS = 'true';
const produced = await new ProducedOutputs().start();
const { bucket, server, png } = produced;
/** A run just after the outputs were produced. */
const store = () => storeOutputs(REQUEST_ID, new StoppedClock());
beforeEach(() => {
  produced.reset();
  pause.mockClear();
});
afterAll(() => server.close());

describe('an output that cannot be stored', () => {
  const recordedWithout = (times: number) => {
    expect(produced.recorded()).toStrictEqual([{ index: 0 }]);
    expect(bucket.objects.size).toBe(0);
    expect(produced.requestedPaths()).toHaveLength(times);
  };
  const [gif, jpeg] = [anImage(8, 8, 'gif'), anImage(30, 20, 'jpeg')];

  test.each<[string, Answer | Promise<Answer>]>([
    ...[400, 401, 410].map((code): [string, Answer] => [`its status is ${code}`, status(code)]),
    ['it is redirected to itself', (response) => response.writeHead(302, { location: '/a' }).end()],
    ['it is a page', file(Buffer.from('<html>no image</html>'))],
    ['we do not deliver its type', gif.then(file)],
    ['its size is not found within 1 MiB', jpeg.then((image) => file(withMetadata(image, 18)))],
  ])('because %s is given up at once', async (_, answer) => {
    produced.serve({ '/a': await answer, '/b': file(png) });
    produced.given(['/a']);
    await store();

    recordedWithout(_.includes('itself') ? 4 : 1);
    expect(pause).not.toHaveBeenCalled();
  });

  test.each([
    ['is plain http', '/a', 'false'],
    ['is plain http, by default', '/a', ''],
    ['is invalid', 'no url', 'true'],
  ])('because its URL %s is not requested', async (_, url, ALLOW_PRIVATE_TARGETS) => {
    produced.serve({ '/a': file(png) });
    produced.given([url]);
    await withEnvironment({ ALLOW_PRIVATE_TARGETS }, store);

    recordedWithout(0);
    expect(pause).not.toHaveBeenCalled();
  });

  test('is followed over redirects', async () => {
    produced.serve({
      '/a': (response) => response.writeHead(302, { location: '/b' }).end(),
      '/b': file(png),
    });
    produced.given(['/a']);
    await store();

    expect(produced.recorded()).toMatchObject([{ index: 0, objectKey: keyOf('0.png') }]);
  });

  /** Nothing is stored, and the state machine runs the step again. */
  const pending = async (times: number) => {
    await expect(store()).rejects.toMatchObject({ name: 'OutputsPendingError' });
    expect(produced.recorded()).toBeUndefined();
    expect(bucket.objects.size).toBe(0);
    expect(produced.requestedPaths()).toHaveLength(times);
    expect(pause.mock.calls).toEqual([[500], [1000]]);
  };

  test.each<[string, Answer, (() => void)?]>([
    ...[429, 500, 502, 503].map((code): [string, Answer] => [`of status ${code}`, status(code)]),
    ['the connection breaks in its header', breaking(png.byteLength, png.subarray(0, 20))],
    ['the connection breaks after its header', breaking(png.byteLength, png.subarray(0, 100))],
    ['the bucket refused it', file(png), () => bucket.client.on(PutObjectCommand).rejects(new Error('no'))],
  ])(
    'because %s is attempted three times, with pauses, and then again by the state machine',
    async (_, answer, prepare = () => undefined) => {
      prepare();
      produced.serve({ '/a': answer });
      produced.given(['/a']);

      await pending(3);
    },
  );

  test('is stored when a later attempt succeeds', async () => {
    produced.serve({ '/a': (response, time) => (time < 3 ? status(503) : file(png))(response, time) });
    produced.given(['/a']);
    await store();

    expect(produced.recorded()).toMatchObject([{ index: 0, objectKey: keyOf('0.png') }]);
    expect(produced.requestedPaths()).toHaveLength(3);
  });

  test('because a large download broke off leaves no parts behind', async () => {
    const part = Buffer.concat([png, Buffer.alloc(6 * 1024 * 1024)]);
    produced.serve({ '/a': breaking(8 * 1024 * 1024, part) });
    produced.given(['/a']);
    await pending(3);
    expect(bucket.abortedUploads).toEqual(Array(3).fill(keyOf('0.png')));
  });

  test('because the connection was refused is attempted again', async () => {
    produced.given([`${await aClosedUrl()}/a`]);
    await pending(0);
  });

  test('because its time was up is attempted again', async () => {
    jest.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
    produced.given(['/a']);
    await pending(0);
    jest.restoreAllMocks();
  });

  test('keeps the others, and only the rest is fetched again', async () => {
    const [reachable, gone] = [file(png), status(410)];
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

  test('does not affect the others', async () => {
    produced.serve({ '/a': file(png), '/b': status(410), '/c': file(png) });
    produced.given(['/a', '/b', '/c']);
    await store();

    expect(produced.recorded()).toMatchObject([
      { objectKey: keyOf('0.png') },
      {},
      { objectKey: keyOf('2.png') },
    ]);
    expect((produced.recorded() as object[])[1]).toStrictEqual({ index: 1 });
  });

  test.each([
    ['it is not an image', 200],
    ['it is gone', 410],
  ])('because %s is aborted, however much more its server would send', async (_, code) => {
    const closed = Promise.withResolvers<void>();
    server.respond = (_request, response) => {
      response.on('close', closed.resolve);
      response.writeHead(code).write(Buffer.alloc(2 * 1024 * 1024));
    };
    produced.given(['/a']);
    await store();

    recordedWithout(1);
    await closed.promise;
  });
});
