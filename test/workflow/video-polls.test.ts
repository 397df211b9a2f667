import { beforeEach, describe, expect, test } from '@jest/globals';
import { atSeconds } from '../unit/builders/clocks.ts';
import { aVideoRequest, VIDEO_ID } from '../unit/builders/entities.ts';
import type { Execution } from './harness.ts';
import { balanceThousandths, pausedUntil, putRequest, storedRequest } from './stored-request.ts';
import {
  CALLING_BACK,
  looks,
  nextEvery,
  overAfter,
  POLLED,
  type ProviderRoute,
  readsFrom,
  runVideo,
} from './video.ts';

const expectSucceededAt = (execution: Execution, seconds: number): void => {
  expect(execution.status).toBe('SUCCEEDED');
  expect(storedRequest(VIDEO_ID)).toMatchObject({
    status: 'succeeded',
    costThousandths: 50_000,
    finishedAt: atSeconds(seconds).toISOString(),
  });
};

beforeEach(() => putRequest(aVideoRequest()));

/** The smallest number of seconds between two questions to the provider. */
const shortestPause = ({ asked }: ProviderRoute): number =>
  Math.min(...asked.slice(1).map((at, index) => at - (asked[index] ?? 0)));

describe('a video that is finished by its caller’s reads', () => {
  const kinds = [
    ['whose provider’s callback is lost', CALLING_BACK],
    ['whose provider never calls back', POLLED],
  ] as const;
  /** When it is over, and when in the rhythm of 5 s the first read comes. */
  const times = [
    [40, 5],
    [40, 9.9],
    [600, 6],
    [600, 7.5],
    [3_300, 5],
    [3_300, 9.9],
  ] as const;
  const cases = kinds.flatMap(([name, kind]) =>
    times.map(([seconds, first]) => [name, seconds, first, kind] as const),
  );

  test.each(cases)(
    '%s takes at most twelve transitions, over in %i s, read from %p s on',
    async (_, seconds, first, kind) => {
      const upstream = overAfter(seconds, kind);

      const execution = await runVideo(upstream, readsFrom(first, upstream));

      expect(execution.status).toBe('SUCCEEDED');
      expect(execution.seconds).toBeGreaterThanOrEqual(seconds);
      // The provider is asked every 10 s, by a caller who reads every 5 s.
      expect(execution.seconds).toBeLessThan(seconds + 15);
      expect(execution.transitions).toBeLessThanOrEqual(12);
      expect(storedRequest(VIDEO_ID)).toMatchObject({ status: 'succeeded' });
    },
  );

  test('asks the provider at most every 10 s, and each question is a sign of life', async () => {
    const upstream = overAfter(3_300, POLLED);

    const execution = await runVideo(upstream, readsFrom(5, upstream));

    expect(shortestPause(upstream)).toBeGreaterThanOrEqual(10);
    expect(looks(execution)).toBe(0);
    expect(execution.tokens.issued).toEqual(['token-1']);
    expect(execution.tokens.heartbeats).toEqual(upstream.asked.slice(0, -1));
    expect(upstream.asked.length).toBeGreaterThan(300);
  });

  test('is polled soon after the reads stop, and ever more seldom from then on', async () => {
    const upstream = overAfter(3_300, POLLED);

    const execution = await runVideo(upstream, readsFrom(5, upstream, 600));

    // The last question of a read came after 595 s.
    expect(upstream.asked.filter((second) => second > 595)).toEqual([610, ...nextEvery(300, 610, 3_300)]);
    expect(execution.status).toBe('SUCCEEDED');
    expect(looks(execution)).toBeLessThan(20);
  });

  test('is failed at the deadline, however often it is read', async () => {
    const upstream = overAfter(10_000, POLLED);

    const execution = await runVideo(upstream, readsFrom(5, upstream));

    expect(storedRequest(VIDEO_ID)).toMatchObject({ status: 'failed', error: { code: 'provider_timeout' } });
    expect(execution.seconds).toBeLessThanOrEqual(3_602);
    expect(execution.transitions).toBeLessThanOrEqual(12);
  });
});

describe('a video nobody reads, of a provider that never calls back', () => {
  test('is looked at after as long as it has taken so far, up to 5 min', async () => {
    const upstream = overAfter(3_300, POLLED);

    const execution = await runVideo(upstream);

    expect(upstream.asked).toEqual([15, 30, 60, 120, 240, 480, ...nextEvery(300, 480, 3_300)]);
    expectSucceededAt(execution, upstream.asked.at(-1) ?? 0);
  });

  test.each([
    [15, 1],
    [60, 3],
    [240, 5],
    [480, 6],
    // From here on a look every 5 min.
    [1_080, 8],
    [3_480, 16],
  ])(
    'that takes %i s is looked at %i times: the logarithm of its time, then every 5 min',
    async (seconds, count) => {
      const execution = await runVideo(overAfter(seconds, POLLED));

      expectSucceededAt(execution, seconds);
      expect(looks(execution)).toBe(count);
      expect(execution.transitions).toBe(4 + 3 * count);
    },
  );

  test('is found at most as late as it took, and never more than 5 min late', async () => {
    for (const seconds of [1, 16, 100, 250, 700, 2_000]) {
      putRequest(aVideoRequest());
      const { seconds: found } = await runVideo(overAfter(seconds, POLLED));

      expect(found - seconds).toBeLessThanOrEqual(Math.min(300, Math.max(15, seconds)));
    }
  });

  test('is failed at the deadline and refunded', async () => {
    const execution = await runVideo(overAfter(10_000, POLLED));

    expect(execution.seconds).toBe(3_600);
    expect(storedRequest(VIDEO_ID)).toMatchObject({
      status: 'failed',
      error: { code: 'provider_timeout' },
      finishedAt: atSeconds(3_600).toISOString(),
      refundThousandths: 50_000,
    });
    expect(balanceThousandths()).toBe(150_000);
    expect(pausedUntil(VIDEO_ID)).toBe(atSeconds(3_600 + 180).toISOString());
  });
});
