import '../../builders/environment.ts';
import { describe, expect, test } from '@jest/globals';
import type { RequestKind } from '../../../../core/ids.ts';
import type { ProviderAttempt } from '../../../../core/provider-calls/provider-attempts.ts';
import {
  deadlineOf,
  firstCallAt,
  nextQueryMs,
  stepWhileBusy,
  storingEndOf,
} from '../../../../core/executions/workflow-rules.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { anAttempt } from '../../builders/entities.ts';
import { busy, done } from '../../builders/outcomes.ts';

describe('the pause before a busy provider is called again', () => {
  const pause = (
    busyAttempts: Partial<ProviderAttempt & { retryAfterSeconds: number }>[],
    { random = 0, seconds = 0 } = {},
  ) =>
    stepWhileBusy(
      busyAttempts.map(({ retryAfterSeconds, ...attempt }) =>
        anAttempt({ finishedAt: NOW.toISOString(), outcome: busy(retryAfterSeconds), ...attempt }),
      ),
      atSeconds(600).toISOString(),
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

  test('lasts as long as the longest Retry-After', () => {
    expect(pause([{ retryAfterSeconds: 90 }, { retryAfterSeconds: 45 }, {}])).toBe(90);
    expect(pause([{ retryAfterSeconds: 90 }], { seconds: 60.5 })).toBe(30);
    expect(pause([{ retryAfterSeconds: 1, attempt: 5 }])).toBe(30);
  });

  test('ends at the deadline, rounded up to a second', () => {
    expect(pause([{ retryAfterSeconds: 3600 }], { seconds: 10 })).toBe(590);
    expect(pause([{ attempt: 9 }], { seconds: 599.9 })).toBe(1);
    expect(pause([{ attempt: 9 }], { seconds: 700 })).toBe(1);
  });

  test('of an hour fits into an execution’s history of 25,000 events', () => {
    const EVENTS_A_ROUND = 12;
    let rounds = 0;
    for (let seconds = 0; seconds < 3600; rounds++) {
      seconds += stepWhileBusy(
        [anAttempt({ attempt: rounds, outcome: busy(1) })],
        atSeconds(3600).toISOString(),
        atSeconds(seconds),
        1,
      ).waitSeconds;
    }

    expect(rounds * EVENTS_A_ROUND).toBeLessThan(5_000);
  });
});

test.each([
  // Produced at once: until the deadline. Produced late: 15 min.
  ['video', 10, 3600],
  ['video', 3599, 4499],
  ['image', 10, 910],
] as const)('an %s produced after %i s is stored until %i s after its first call', (kind, produced, end) => {
  const produce = (seconds: number, call: number) =>
    anAttempt({ call, finishedAt: atSeconds(seconds).toISOString(), outcome: done('a') });
  const settings = { deadlineSeconds: { image: 600, video: 3600 } };

  expect(storingEndOf(kind, [produce(produced, 0), produce(1, 1)], settings)).toBe(
    atSeconds(end).toISOString(),
  );
});

test('a request’s first call is the earliest of all attempts', () => {
  const at = (seconds: number) => atSeconds(seconds).toISOString();

  expect(firstCallAt([])).toBeUndefined();
  expect(
    firstCallAt([
      anAttempt({ startedAt: at(9) }),
      anAttempt({ startedAt: at(3) }),
      anAttempt({ startedAt: at(5) }),
    ]),
  ).toBe(at(3));
});

describe('the next query of an unfinished task', () => {
  const pause = (
    ageSeconds: number,
    { notBefore, interval = 2 }: { notBefore?: number; interval?: number } = {},
  ) =>
    (nextQueryMs(
      NOW.toISOString(),
      notBefore === undefined ? undefined : atSeconds(notBefore).toISOString(),
      { pollIntervalSeconds: interval },
      atSeconds(ageSeconds),
    ) -
      atSeconds(ageSeconds).getTime()) /
    1000;

  test.each([
    [-5, 2],
    [0, 2],
    [40, 2],
    [60, 3],
    [180, 9],
    [300, 15],
    [3_600, 15],
  ])('is after a twentieth of its age, from 2 to 15 s: at %p s after %p s', (age, seconds) => {
    expect(pause(age)).toBe(seconds);
  });

  test('is not before the interval that the deployment configures', () => {
    expect([pause(0, { interval: 5 }), pause(3_600, { interval: 30 })]).toEqual([5, 30]);
  });

  test('is not before the provider’s Retry-After', () => {
    expect([pause(10, { notBefore: 100 }), pause(10, { notBefore: 11 })]).toEqual([90, 2]);
  });
});

test.each<[RequestKind, number]>([
  ['image', 600],
  ['video', 3600],
])('each kind has its own deadline: an %s %p s after its first call', (kind, seconds) => {
  const deadline = (overrides: Partial<Record<RequestKind, number>> = {}) =>
    deadlineOf(
      { kind, firstCallAt: NOW.toISOString() },
      { deadlineSeconds: { image: 600, video: 3600, ...overrides } },
    );

  expect(deadline()).toBe(atSeconds(seconds).toISOString());
  expect(deadline({ [kind]: 7 })).toBe(atSeconds(7).toISOString());
});
