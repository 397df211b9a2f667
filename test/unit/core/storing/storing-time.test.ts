import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { providerAttemptKey, routeStateKey } from '../../../../core/table/keys.ts';
import { anImage } from '../../../../packages/media/test/images.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import { anAttempt, REQUEST_ID } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import {
  type Answer,
  breaking,
  file,
  keyOf,
  ProducedOutputs,
  status,
} from '../../builders/produced-outputs.ts';
import { aDone } from '../../builders/providers.ts';

const pause = jest.fn(async (_milliseconds: number) => undefined);
jest.unstable_mockModule('node:timers/promises', () => ({ setTimeout: pause }));
const { storeOutputs } = await import('../../../../core/storing/store-outputs.ts');

process.env.ALLOW_PRIVATE_TARGETS = 'true';
const produced = await new ProducedOutputs().start();
const { bucket, server, png } = produced;
/** A run so many seconds after the outputs were produced. */
const storeAt = (seconds: number) => storeOutputs(REQUEST_ID, new StoppedClock(atSeconds(seconds)));
const store = () => storeAt(0);
/** A run when the time for storing is over: 15 min after the outputs were produced. */
const storeAtTheEnd = () => storeAt(900);
/** Expects that a run leaves outputs to another. */
const expectPending = (run: Promise<unknown>) =>
  expect(run).rejects.toMatchObject({ name: 'OutputsPendingError' });
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
  const halves = [png, anImage(30, 20, 'jpeg'), anImage(64, 48, 'webp')].map(async (image) => {
    const whole = await image;
    return whole.subarray(0, whole.byteLength >> 1);
  });
  describe.each<[string, Answer | Promise<Answer>, number]>([
    ...[403, 404].map((code): [string, Answer, number] => [`its status is ${code}`, status(code), 75]),
    ['it is empty', file(Buffer.alloc(0)), 10],
    ['it ends in its header', file(png.subarray(0, 8)), 10],
    ['it is a PNG that ends half way', halves[0]?.then(file) as Promise<Answer>, 10],
    ['it is a JPEG that ends half way', halves[1]?.then(file) as Promise<Answer>, 10],
    ['it is a WebP that ends half way', halves[2]?.then(file) as Promise<Answer>, 10],
  ])('because %s', (_, answer, seconds) => {
    beforeEach(async () => {
      produced.serve({ '/a': await answer });
      produced.given(['/a']);
    });

    test('is fetched again while it is new, and then lost', async () => {
      for (const time of [0, seconds - 5, seconds - 1]) await expectPending(storeAt(time));
      expect(produced.requestedPaths()).toHaveLength(9);
      await storeAt(seconds);

      recordedWithout(10);
    });

    test('is stored once it is there', async () => {
      await expectPending(storeAt(0));
      produced.serve({ '/a': file(png) });
      await storeAt(seconds - 1);

      expect(produced.recorded()).toMatchObject([{ index: 0, objectKey: keyOf('0.png') }]);
    });
  });

  describe('first fetched hours after it was made, since a function was refused until then', () => {
    const late = (seconds: number) => storeAt(9_000 + seconds);
    beforeEach(() => produced.given(['/a', '/b']));

    test.each<[string, Answer, number]>([
      ['that is out of order', status(503), 629],
      ['that has no file yet', status(404), 74],
      ['that breaks off', breaking(png.byteLength, png.subarray(0, 100)), 629],
    ])('from a server %s, has as much time as any other', async (_, answer, seconds) => {
      produced.serve({ '/a': answer, '/b': answer });
      for (const time of [0, seconds]) await expectPending(late(time));
      produced.serve({ '/a': file(png), '/b': file(png) });
      await late(899);

      expect(produced.recorded()).toMatchObject([
        { index: 0, objectKey: keyOf('0.png') },
        { index: 1, objectKey: keyOf('1.png') },
      ]);
    });

    test('is not fetched for ever', async () => {
      produced.serve({ '/a': file(png), '/b': status(503) });
      for (const time of [0, 300, 629]) await expectPending(late(time));
      await late(630);

      expect(produced.recorded()).toMatchObject([{ objectKey: keyOf('0.png') }, {}]);
    });
  });

  test('because its server always breaks off ends within the 15 min that storing has', async () => {
    produced.serve({ '/a': breaking(png.byteLength, png.subarray(0, 100)) });
    produced.given(['/a']);
    for (const seconds of [0, 300, 629]) await expectPending(storeAt(seconds));
    await storeAt(630);

    recordedWithout(10);
  });

  test('is left out when the time for storing is over, and what is stored is delivered', async () => {
    produced.serve({ '/a': file(png), '/b': status(503) });
    produced.given(['/a', '/b']);
    await expectPending(store());
    await storeAtTheEnd();

    expect(produced.recorded()).toMatchObject([{ objectKey: keyOf('0.png') }, {}]);
    expect((produced.recorded() as object[])[1]).toStrictEqual({ index: 1 });
  });

  test('counts a failed task of its route once, however often storing is repeated', async () => {
    produced.serve({ '/a': status(503) });
    produced.given(['/a']);
    const failed = { kind: 'failed', failure: { code: 'provider_error', message: 'no' } } as const;
    for (const [call, outcome] of [[0, aDone(`${server.url}/a`)] as const, [1, failed] as const]) {
      const attempt = anAttempt({ call, taskId: `task-${call}`, outcome });
      produced.memory.put(providerAttemptKey(REQUEST_ID, call, 0), attempt);
    }
    const routes = [
      { provider: 'modelstudio', upstreamModel: 'qwen-image' },
      { provider: 'fal', upstreamModel: 'two' },
    ];
    await withEnvironment({ MODEL_ROUTES: JSON.stringify({ xQI3Pro: routes }) }, async () => {
      for (let count = 0; count < 3; count++) await expectPending(store());
      await storeAtTheEnd();
    });

    const state = produced.memory.get(routeStateKey('modelstudio/qwen-image')) ?? {};
    const counts = Object.entries(state).filter(([name]) => name.startsWith('tasks-bad#'));
    expect(counts.map(([, count]) => count)).toEqual([1]);
  });

  test('survives an outage of the bucket of 10 min', async () => {
    produced.serve({ '/a': file(png) });
    produced.given(['/a']);
    bucket.client.on(PutObjectCommand).rejects(new Error('slow down'));
    for (const seconds of [0, 300, 599]) {
      await expect(storeAt(seconds)).rejects.toThrow('not stored');
    }
    bucket.reset();
    await storeAt(600);

    expect(produced.recorded()).toMatchObject([{ objectKey: keyOf('0.png') }]);
  });

  test('because the bucket takes none is given up when the time for storing is over, and not before', async () => {
    produced.serve({ '/a': file(png) });
    produced.given(['/a']);
    bucket.client.on(PutObjectCommand).rejects(new Error('slow down'));
    for (const seconds of [0, 899]) await expect(storeAt(seconds)).rejects.toThrow('not stored');
    await storeAtTheEnd();

    expect(produced.recorded()).toStrictEqual([{ index: 0 }]);
  });
});
