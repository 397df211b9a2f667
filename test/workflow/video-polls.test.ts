import { beforeEach, describe, expect, test } from '@jest/globals';
import { nameReconciler } from '../../core/executions/reconciler-run.ts';
import { atSeconds } from '../unit/builders/clocks.ts';
import { aVideoRequest, VIDEO_ID } from '../unit/builders/entities.ts';
import { scheduledRuns } from './scheduled-runs.ts';
import { balanceThousandths, pausedUntil, putRequest, storedRequest } from './stored-request.ts';
import { CALLING_BACK, finishedAfter, POLLED, type ProviderRoute, readsFrom, runVideo } from './video.ts';

beforeEach(() => putRequest(aVideoRequest()));

/** The fewest seconds between two queries. */
const shortestPause = ({ queries }: ProviderRoute): number =>
  Math.min(...queries.slice(1).map((at, index) => at - (queries[index] ?? 0)));

describe('a video of a provider that never calls back', () => {
  const expectFoundInTime = async (provider: ProviderRoute, seconds: number): Promise<void> => {
    const execution = await runVideo(provider, scheduledRuns(provider));

    expect(storedRequest(VIDEO_ID)).toMatchObject({ status: 'succeeded', costThousandths: 50_000 });
    expect(execution.seconds - seconds).toBeLessThanOrEqual(Math.max(7, seconds / 10));
    expect(execution.transitions).toBe(6);
  };

  test.each([1, 40, 180, 300, 600])(
    'that takes %i s is found finished at most 7 s or a tenth of that late, in six transitions',
    (seconds) => expectFoundInTime(finishedAfter(seconds, POLLED), seconds),
  );

  test('that takes 3,300 s too; it is queried every 2 s, then after a twentieth of its age, at most every 15 s', async () => {
    const provider = finishedAfter(3_300, POLLED);

    await expectFoundInTime(provider, 3_300);

    expect(shortestPause(provider)).toBeGreaterThanOrEqual(2);
    const late = { ...provider, queries: provider.queries.filter((second) => second > 300) };
    expect(shortestPause(late as ProviderRoute)).toBeGreaterThanOrEqual(14);
    expect(provider.queries.length).toBeLessThan(280);
  });

  test('starts the control loop itself between two minutes', async () => {
    const provider = finishedAfter(5, POLLED);
    await nameReconciler('reconcile');

    const execution = await runVideo(provider, scheduledRuns(provider, 50));

    expect(provider.queries[0]).toBe(2);
    expect(execution.seconds).toBeLessThanOrEqual(12);
  });

  test('is delivered at its deadline when no loop runs and nobody reads it, in seven transitions', async () => {
    const execution = await runVideo(finishedAfter(3_300, POLLED));

    expect(execution.seconds).toBe(3_601);
    expect(storedRequest(VIDEO_ID)).toMatchObject({ status: 'succeeded' });
    expect(execution.transitions).toBe(7);
  });

  test('fails at the deadline and is refunded', async () => {
    const provider = finishedAfter(10_000, POLLED);
    const execution = await runVideo(provider, scheduledRuns(provider));

    expect(execution.seconds).toBe(3_601);
    expect(storedRequest(VIDEO_ID)).toMatchObject({
      status: 'failed',
      error: { code: 'provider_timeout' },
      finishedAt: atSeconds(3_601).toISOString(),
      refundThousandths: 50_000,
    });
    expect(balanceThousandths()).toBe(150_000);
    expect(pausedUntil(VIDEO_ID)).toBe(atSeconds(3_601 + 180).toISOString());
  });
});

describe('a video whose caller reads it, without the control loop,', () => {
  const lost = 'whose provider’s callback is lost';
  const none = 'whose provider never calls back';
  /** When its task finishes, and the offset of the reads, which come every 5 s. */
  const cases = [
    [lost, 40, 5, CALLING_BACK],
    [lost, 600, 7.5, CALLING_BACK],
    [none, 40, 5, POLLED],
    [none, 3_300, 9, POLLED],
  ] as const;

  test.each(cases)(
    '%s takes six transitions, finished in %i s, read from %p s on',
    async (_, seconds, first, kind) => {
      const provider = finishedAfter(seconds, kind);

      const execution = await runVideo(provider, readsFrom(first, provider));

      expect(execution.seconds).toBeGreaterThanOrEqual(seconds);
      // A caller who reads every 5 s queries the provider every 10 s.
      expect(execution.seconds).toBeLessThan(seconds + 15);
      expect(shortestPause(provider)).toBeGreaterThanOrEqual(10);
      expect(execution.transitions).toBe(6);
      expect(execution.tokens.issued).toEqual(['token-1']);
      expect(storedRequest(VIDEO_ID)).toMatchObject({ status: 'succeeded' });
    },
  );
});
