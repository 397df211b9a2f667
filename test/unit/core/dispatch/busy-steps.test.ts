import { describe, expect, test } from '@jest/globals';
import { stepWhileBusy } from '../../../../core/dispatch/dispatch-rules.ts';
import type { ProviderAttempt } from '../../../../core/provider-calls/provider-attempts.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { anAttempt } from '../../builders/entities.ts';
import { busy } from '../../builders/outcomes.ts';

describe('the pause before a busy provider is called again', () => {
  const pause = (
    busyAttempts: Partial<ProviderAttempt & { retryAfterSeconds: number }>[],
    { random = 0, seconds = 0 } = {},
  ) =>
    stepWhileBusy(
      busyAttempts.map(({ retryAfterSeconds, ...attempt }) =>
        anAttempt({ finishedAt: NOW.toISOString(), outcome: busy(retryAfterSeconds), ...attempt }),
      ),
      atSeconds(600),
      atSeconds(seconds),
      random,
    ).waitSeconds;

  test.each([
    [0, [1, 2, 4, 8, 16, 30, 30]],
    [0.5, [1, 2, 3, 6, 12, 23, 23]],
    [1, [1, 1, 2, 4, 8, 15, 15]],
  ])('doubles up to 30 s, less up to half at random: %p takes %j s', (random, waits) => {
    expect(waits.map((_, attempt) => pause([{ attempt }], { random }))).toEqual(waits);
  });

  test('is that of the call that was made most often', () => {
    expect(pause([{ attempt: 3 }, { attempt: 0 }])).toBe(8);
    expect(pause([{ attempt: 0 }, { attempt: 3 }])).toBe(8);
  });

  test('lasts as long as the longest Retry-After, for a minute at most', () => {
    expect(pause([{ retryAfterSeconds: 50 }, { retryAfterSeconds: 45 }, {}])).toBe(50);
    expect(pause([{ retryAfterSeconds: 900 }])).toBe(60);
    expect(pause([{ retryAfterSeconds: 50 }], { seconds: 20.5 })).toBe(30);
    expect(pause([{ retryAfterSeconds: 1, attempt: 5 }])).toBe(30);
  });

  test('ends at the deadline, rounded up to a second', () => {
    expect(pause([{ retryAfterSeconds: 3600 }], { seconds: 10 })).toBe(50);
    expect(
      pause([{ retryAfterSeconds: 60, finishedAt: atSeconds(580).toISOString() }], { seconds: 580 }),
    ).toBe(20);
    expect(pause([{ attempt: 9 }], { seconds: 599.9 })).toBe(1);
    expect(pause([{ attempt: 9 }], { seconds: 700 })).toBe(1);
  });

  test('of an hour fits into an execution’s history of 25,000 events', () => {
    const EVENTS_A_ROUND = 12;
    let rounds = 0;
    for (let seconds = 0; seconds < 3600; rounds++) {
      seconds += stepWhileBusy(
        [anAttempt({ attempt: rounds, outcome: busy(1) })],
        atSeconds(3600),
        atSeconds(seconds),
        1,
      ).waitSeconds;
    }

    expect(rounds * EVENTS_A_ROUND).toBeLessThan(5_000);
  });
});
