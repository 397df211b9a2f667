import { describe, expect, test } from '@jest/globals';
import { Evidence } from '../evidence/evidence.ts';
import type { Life } from '../evidence/witness.ts';
import { EXCUSED_MS, Lateness, type PastOutage } from './lateness.ts';
import { BOUND_MS, progressProblems } from './liveness-rules.ts';

const START = Date.parse('2026-01-01T00:00:00.000Z');
const MINUTE_MS = 60_000;

const latenessWith = (outages: readonly PastOutage[] = []): Lateness => new Lateness(() => outages);

const life: Life = {
  requestId: 'img_1',
  accountId: 'acc_1',
  email: 'ada@example.com',
  prompt: 'p',
  accepted: { status: 'queued' },
  last: { status: 'queued' },
  acceptedAt: START,
  endedAt: Number.POSITIVE_INFINITY,
  removedAt: undefined,
};

/** The problems of a request without an execution, so long after its acceptance. */
const problemsAfter = (ms: number, lateness: Lateness): string[] =>
  progressProblems({
    life,
    evidence: new Evidence(),
    deadlineSeconds: 600,
    execution: undefined,
    isQueued: false,
    recordedAt: undefined,
    now: START + ms,
    excusedMs: (from) => lateness.excusedMs(from, START + ms, 'providers', 'throttled functions'),
  });

describe('a request that nobody starts', () => {
  test('is noticed after its bound while nothing is wrong', () => {
    expect(problemsAfter(BOUND_MS.lost, latenessWith())).toEqual([]);
    expect(problemsAfter(BOUND_MS.lost + 1, latenessWith())).toHaveLength(1);
  });

  test.each(Object.entries(EXCUSED_MS))(
    'is noticed after a %s, %s ms later and no later',
    (name, excusedMs) => {
      const lateness = latenessWith();
      lateness.add(name as keyof typeof EXCUSED_MS, START);

      expect(problemsAfter(BOUND_MS.lost + excusedMs, lateness)).toEqual([]);
      expect(problemsAfter(BOUND_MS.lost + excusedMs + 1, lateness)).toHaveLength(1);
    },
  );

  test('is noticed in spite of faults that go on and on', () => {
    const lateness = latenessWith();
    for (const ms of [0, 50_000, 100_000, 150_000, 200_000, 239_000]) lateness.add('slow', START + ms);

    expect(problemsAfter(BOUND_MS.lost + 6 * EXCUSED_MS.slow + 1, lateness)).toHaveLength(1);
  });

  test.each(['table', 'modelark'] as const)('is noticed after an outage of %s', (service) => {
    const outage = { service, mode: 'refuses', from: START, to: START + MINUTE_MS } as const;

    expect(problemsAfter(BOUND_MS.lost + MINUTE_MS, latenessWith([outage]))).toEqual([]);
    expect(problemsAfter(BOUND_MS.lost + 5 * MINUTE_MS, latenessWith([outage]))).toHaveLength(1);
  });

  test('is noticed after a function was refused for 90 minutes', () => {
    const lateness = latenessWith();
    lateness.throttle(START, START + 90 * MINUTE_MS);

    expect(problemsAfter(90 * MINUTE_MS, lateness)).toEqual([]);
    expect(problemsAfter(96 * MINUTE_MS, lateness)).toHaveLength(1);
  });
});

describe('what goes wrong elsewhere', () => {
  const outage = { service: 'fal', mode: 'hangs', from: START, to: START + MINUTE_MS } as const;

  test('excuses nothing that does not wait for it', () => {
    const lateness = latenessWith([outage]);
    lateness.add('unread state', START);
    lateness.add('leaked secret', START);
    lateness.throttle(START, START + MINUTE_MS);

    expect(lateness.excusedMs(START, START + MINUTE_MS)).toBe(0);
    expect(lateness.excusedMs(START, START + MINUTE_MS, 'providers', 'throttled functions')).toBeGreaterThan(
      2 * MINUTE_MS,
    );
  });

  test('takes nothing from the time of what is due later', () => {
    const lateness = latenessWith();
    lateness.throttle(START, START + 90 * MINUTE_MS);

    expect(lateness.excusedMs(START + 60 * MINUTE_MS, START, 'throttled functions')).toBe(0);
  });

  test('excuses nothing once its effects are over', () => {
    const lateness = latenessWith([outage]);
    lateness.throttle(START, START + MINUTE_MS);
    const later = START + 10 * MINUTE_MS;

    expect(lateness.excusedMs(later, later + MINUTE_MS, 'providers', 'throttled functions')).toBe(0);
  });
});
