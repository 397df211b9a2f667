import '../../builders/environment.ts';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { RequestKind } from '../../../../core/ids.ts';
import type { ProviderAttempt } from '../../../../core/provider-calls/provider-attempts.ts';
import {
  deadlineOf,
  firstCallAt,
  stepWhileBusy,
  storingEndOf,
  waitTimeOf,
} from '../../../../core/workflow/workflow-rules.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { anAttempt } from '../../builders/entities.ts';
import { busy, done } from './outcomes.ts';

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

describe('the wait for a provider', () => {
  const wait = (
    kind: RequestKind,
    elapsedSeconds: number,
    {
      callsBack = false,
      interval = 5,
      deadlineSeconds = 3600,
      notBefore,
    }: { callsBack?: boolean; interval?: number; deadlineSeconds?: number; notBefore?: number } = {},
  ) =>
    waitTimeOf(
      { kind, firstCallAt: NOW.toISOString() },
      callsBack,
      { pollIntervalSeconds: interval, deadlineSeconds: { image: 0, video: 0, [kind]: deadlineSeconds } },
      atSeconds(elapsedSeconds),
      notBefore === undefined ? undefined : atSeconds(notBefore).toISOString(),
    );

  test.each([
    [10, 70, 60],
    [10, 12, 15],
    [10, 5, 15],
    [3000, 3400, 400],
    [3500, 9_000, 100],
  ])('that asked after %p s not to be queried before second %p lasts %p s', (elapsed, notBefore, seconds) => {
    expect(wait('video', elapsed, { notBefore })).toEqual({
      waitSeconds: seconds,
      timeoutSeconds: 3601 - elapsed,
    });
  });

  test.each<[RequestKind, number, number]>([
    // A quarter of the task's age.
    ['image', 0, 5],
    ['image', 12, 5],
    ['image', 20, 5],
    ['image', 20.1, 6],
    ['image', 60, 15],
    ['image', 400, 100],
    ['image', 1200, 300],
    ['image', 3000, 300],
    ['image', 3500, 100],
    // As long as the task's age, at least three intervals.
    ['video', 0, 15],
    ['video', 15, 15],
    ['video', 15.1, 16],
    ['video', 20, 20],
    ['video', 160, 160],
    ['video', 299.5, 300],
    ['video', 300, 300],
    ['video', 3000, 300],
    ['video', 3595, 5],
    ['video', 3598.5, 2],
    ['video', 3600, 1],
    ['video', 4000, 1],
  ])('when it is polled, for an %s after %p s of 3600, is %p s', (kind, elapsedSeconds, waitSeconds) => {
    expect(wait(kind, elapsedSeconds).waitSeconds).toBe(waitSeconds);
  });

  test.each([
    [0, 3600],
    [12.5, 3588],
    [3599.9, 1],
    [3600, 1],
  ])('when it calls back, after %p s of 3600, lasts until the deadline: %p s', (elapsed, seconds) => {
    expect(wait('video', elapsed, { callsBack: true }).waitSeconds).toBe(seconds);
  });

  test.each([
    ['polled', false, 0, { waitSeconds: 15, timeoutSeconds: 3601 }],
    ['polled', false, 3500, { waitSeconds: 100, timeoutSeconds: 101 }],
    ['polled', false, 4000, { waitSeconds: 1, timeoutSeconds: 2 }],
    ['calling back', true, 0.5, { waitSeconds: 3600, timeoutSeconds: 3601 }],
  ])(
    'times out a second after the deadline despite heartbeats: %s (%p), after %p s',
    (_, callsBack, elapsed, time) => {
      expect(wait('video', elapsed, { callsBack })).toEqual(time);
    },
  );

  const elapsed = fc.integer({ min: 0, max: 5_000_000 }).map((milliseconds) => milliseconds / 1000);
  const kinds = fc.constantFrom<RequestKind>('image', 'video');
  const settings = fc.record({
    callsBack: fc.boolean(),
    interval: fc.integer({ min: 1, max: 300 }),
    deadlineSeconds: fc.integer({ min: 1, max: 5400 }),
  });

  test('is in whole seconds, with the heartbeat below the timeout, as Step Functions requires', () => {
    fc.assert(
      fc.property(kinds, elapsed, settings, (kind, seconds, given) => {
        const { waitSeconds, timeoutSeconds } = wait(kind, seconds, given);

        expect(Number.isInteger(waitSeconds) && Number.isInteger(timeoutSeconds)).toBe(true);
        expect(waitSeconds).toBeGreaterThanOrEqual(1);
        expect(timeoutSeconds).toBeGreaterThan(waitSeconds);
      }),
    );
  });

  test('is at most 5 min when it is polled', () => {
    fc.assert(
      fc.property(kinds, elapsed, settings, (kind, seconds, given) => {
        expect(wait(kind, seconds, { ...given, callsBack: false }).waitSeconds).toBeLessThanOrEqual(300);
      }),
    );
  });

  test('ends at the deadline, rounded up to a second', () => {
    fc.assert(
      fc.property(kinds, elapsed, settings, (kind, seconds, given) => {
        const leftSeconds = Math.max(1, Math.ceil(given.deadlineSeconds - seconds));
        const { waitSeconds, timeoutSeconds } = wait(kind, seconds, given);

        expect(waitSeconds).toBeLessThanOrEqual(leftSeconds);
        expect(timeoutSeconds).toBe(Math.max(leftSeconds, 1) + 1);
      }),
    );
  });

  test('is at least one interval, three for a video, and grows with the task’s age while the deadline is far', () => {
    fc.assert(
      fc.property(kinds, elapsed, elapsed, fc.integer({ min: 1, max: 300 }), (kind, a, b, interval) => {
        const far = { interval, deadlineSeconds: 10_000 };
        const [sooner, later] = [Math.min(a, b), Math.max(a, b)].map((at) => wait(kind, at, far).waitSeconds);

        expect(sooner).toBeGreaterThanOrEqual(Math.min(300, kind === 'video' ? 3 * interval : interval));
        expect(later).toBeGreaterThanOrEqual(sooner ?? 0);
      }),
    );
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
