import { beforeEach, describe, expect, test } from '@jest/globals';
import { atSeconds } from '../unit/builders/clocks.ts';
import { aVideoRequest, VIDEO_ID } from '../unit/builders/entities.ts';
import type { Execution } from './harness.ts';
import { balanceThousandths, pausedUntil, putRequest, storedRequest } from './stored-request.ts';
import {
  CALLING_BACK,
  finishedAfter,
  looks,
  nextEvery,
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

/** The fewest seconds between two queries. */
const shortestPause = ({ queries }: ProviderRoute): number =>
  Math.min(...queries.slice(1).map((at, index) => at - (queries[index] ?? 0)));

describe('a video whose caller reads it', () => {
  const kinds = [
    ['whose provider’s callback is lost', CALLING_BACK],
    ['whose provider never calls back', POLLED],
  ] as const;
  /** When its task finishes, and the offset of the reads, which come every 5 s. */
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
    '%s takes at most twelve transitions, finished in %i s, read from %p s on',
    async (_, seconds, first, kind) => {
      const provider = finishedAfter(seconds, kind);

      const execution = await runVideo(provider, readsFrom(first, provider));

      expect(execution.status).toBe('SUCCEEDED');
      expect(execution.seconds).toBeGreaterThanOrEqual(seconds);
      // A caller who reads every 5 s queries the provider every 10 s.
      expect(execution.seconds).toBeLessThan(seconds + 15);
      expect(execution.transitions).toBeLessThanOrEqual(12);
      expect(storedRequest(VIDEO_ID)).toMatchObject({ status: 'succeeded' });
    },
  );

  test('queries the provider at most every 10 s, and each query is a heartbeat', async () => {
    const provider = finishedAfter(3_300, POLLED);

    const execution = await runVideo(provider, readsFrom(5, provider));

    expect(shortestPause(provider)).toBeGreaterThanOrEqual(10);
    expect(looks(execution)).toBe(0);
    expect(execution.tokens.issued).toEqual(['token-1']);
    expect(execution.tokens.heartbeats).toEqual(provider.queries.slice(0, -1));
    expect(provider.queries.length).toBeGreaterThan(300);
  });

  test('is polled soon after the reads stop, then less and less often', async () => {
    const provider = finishedAfter(3_300, POLLED);

    const execution = await runVideo(provider, readsFrom(5, provider, 600));

    // The last query of a read was after 595 s.
    expect(provider.queries.filter((second) => second > 595)).toEqual([610, ...nextEvery(300, 610, 3_300)]);
    expect(execution.status).toBe('SUCCEEDED');
    expect(looks(execution)).toBeLessThan(20);
  });

  test('fails at the deadline, however often it is read', async () => {
    const provider = finishedAfter(10_000, POLLED);

    const execution = await runVideo(provider, readsFrom(5, provider));

    expect(storedRequest(VIDEO_ID)).toMatchObject({ status: 'failed', error: { code: 'provider_timeout' } });
    expect(execution.seconds).toBeLessThanOrEqual(3_602);
    expect(execution.transitions).toBeLessThanOrEqual(12);
  });
});

describe('a video that is only polled', () => {
  test('is queried again after as long as it has taken so far, up to 5 min', async () => {
    const provider = finishedAfter(3_300, POLLED);

    const execution = await runVideo(provider);

    expect(provider.queries).toEqual([15, 30, 60, 120, 240, 480, ...nextEvery(300, 480, 3_300)]);
    expectSucceededAt(execution, provider.queries.at(-1) ?? 0);
  });

  test.each([
    [15, 1],
    [60, 3],
    [240, 5],
    [480, 6],
    // From here on every 5 min.
    [1_080, 8],
    [3_480, 16],
  ])('that takes %i s is queried %i times: logarithmically, then every 5 min', async (seconds, count) => {
    const execution = await runVideo(finishedAfter(seconds, POLLED));

    expectSucceededAt(execution, seconds);
    expect(looks(execution)).toBe(count);
    expect(execution.transitions).toBe(4 + 3 * count);
  });

  test('is found finished at most as late as it took, and at most 5 min late', async () => {
    for (const seconds of [1, 16, 100, 250, 700, 2_000]) {
      putRequest(aVideoRequest());
      const { seconds: found } = await runVideo(finishedAfter(seconds, POLLED));

      expect(found - seconds).toBeLessThanOrEqual(Math.min(300, Math.max(15, seconds)));
    }
  });

  test('fails at the deadline and is refunded', async () => {
    const execution = await runVideo(finishedAfter(10_000, POLLED));

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
