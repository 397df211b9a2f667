import { describe, expect, test } from '@jest/globals';
import {
  chooseAccount,
  type Gate,
  gateOf,
  HORIZON_MS,
  hasRoom,
  isSpare,
  type Permit,
  type RouteLimits,
  runningOf,
  weightOf,
} from '../../../../core/admission/gate-rules.ts';
import type { WaitingAccount } from '../../../../core/admission/waiters.ts';
import type { AttemptOutcome, ProviderAttempt } from '../../../../core/provider-calls/provider-attempts.ts';
import { anAttempt } from '../../builders/entities.ts';
import { aDone } from '../../builders/providers.ts';

const aGate = (limits: RouteLimits): Gate => gateOf('up/model', limits);

describe('the gate of a route', () => {
  test.each<[RouteLimits, number | undefined, number | undefined]>([
    [{ maxRunning: 5 }, 5, undefined],
    [{ maxRunning: 200, requestsPerSecond: 5 }, 200, 200],
    [{ requestsPerSecond: 8, maxRunning: null }, undefined, 125],
    [{}, undefined, undefined],
    [{ maxRunning: null, requestsPerSecond: null }, undefined, undefined],
  ])('with %j has %s permits and %s ms between two starts', (limits, permits, intervalMs) => {
    expect(gateOf('up/model', limits)).toEqual({ name: 'up/model#0', permits, intervalMs });
  });
});

describe('the room of a gate', () => {
  const NOW_MS = 1_000_000;

  test.each([
    [0, 5, true],
    [1, 4, true],
    [1, 5, false],
    [5, 1, false],
    [7, 1, false],
  ])('with %i of 5 permits used and %i wanted: %s', (used, weight, room) => {
    expect(hasRoom(aGate({ maxRunning: 5 }), { used, nextStartMs: undefined }, weight, NOW_MS)).toBe(room);
  });

  test.each([
    [undefined, true, true],
    [NOW_MS, true, true],
    [NOW_MS + 1, false, true],
    [NOW_MS + HORIZON_MS, false, true],
    [NOW_MS + HORIZON_MS + 1, false, false],
  ])('with the next start at %s: without a rate %s, with one %s', (nextStartMs, unrated, rated) => {
    expect(hasRoom(aGate({ maxRunning: 5 }), { used: 0, nextStartMs }, 1, NOW_MS)).toBe(unrated);
    expect(hasRoom(aGate({ requestsPerSecond: 5 }), { used: 9, nextStartMs }, 1, NOW_MS)).toBe(rated);
  });

  test('is asked for by as many calls as the gate has permits, at most', () => {
    expect(weightOf(15, aGate({ maxRunning: 5 }))).toBe(5);
    expect(weightOf(3, aGate({ maxRunning: 5 }))).toBe(3);
    expect(weightOf(15, aGate({ requestsPerSecond: 5 }))).toBe(15);
  });
});

const anAccount = (accountId: string, servedAt: string): WaitingAccount => ({
  accountId,
  servedAt,
  touched: 'x',
});

describe('the next account', () => {
  const running = (counts: Record<string, number>) => new Map(Object.entries(counts));

  test.each<[string, WaitingAccount[], Record<string, number>, string | undefined]>([
    ['nobody without accounts', [], {}, undefined],
    ['the one with fewest running', [anAccount('a', '1'), anAccount('b', '9')], { a: 1 }, 'b'],
    [
      'among equals the one served longest ago',
      [anAccount('a', '2'), anAccount('b', '1')],
      { a: 1, b: 1 },
      'b',
    ],
    ['the first by id, if all is equal', [anAccount('b', '1'), anAccount('a', '1')], {}, 'a'],
  ])('is %s', (_, accounts, counts, expected) => {
    expect(chooseAccount(accounts, running(counts))?.accountId).toBe(expected);
  });

  test('is counted by the weight of its permits', () => {
    const permit = (accountId: string, weight: number): Permit => ({ accountId, weight, takenMs: 0 });
    const permits = new Map([
      ['1', permit('a', 2)],
      ['2', permit('b', 1)],
      ['3', permit('a', 3)],
    ]);

    expect(runningOf({ permits })).toEqual(running({ a: 5, b: 1 }));
  });
});

describe('a permit taken at 1,000 ms', () => {
  const permit: Permit = { accountId: 'a', weight: 1, takenMs: 1_000 };
  /** Whether it can be taken back when the latest attempts have these outcomes. */
  const spareAt = (nowMs: number, latest: ProviderAttempt[], permitMs?: number, taken = permit) =>
    isSpare(taken, { permitMs }, { latest, here: latest.filter(isHere) }, nowMs);
  const isHere = ({ upstreamModel }: ProviderAttempt): boolean => upstreamModel !== 'other';
  const anAttemptHere = (outcome: AttemptOutcome | undefined) => anAttempt({ outcome });
  const OPEN = { kind: 'accepted', taskId: 'task' } as const;
  const BUSY = { kind: 'busy', reason: 'full' } as const;
  const DONE = anAttemptHere(aDone('a'));
  const ELSEWHERE = anAttempt({ outcome: OPEN, upstreamModel: 'other' });
  const REFUSED: AttemptOutcome = {
    ...({ kind: 'failed', taken: 'no', obstacle: 'access' } as const),
    failure: { code: 'provider_error', message: 'no' },
  };
  const REFUSED_ELSEWHERE = anAttempt({ outcome: REFUSED, upstreamModel: 'other' });

  test.each<[string, ProviderAttempt[], number | undefined, number, ReturnType<typeof isSpare>]>([
    ['with a call that is being made is kept', [anAttemptHere(undefined)], 1_000, 9_999_999, false],
    ['with an open task is kept, however old', [anAttemptHere(OPEN)], 1_000, 9_999_999, false],
    ['with an open task beside a finished one is kept', [DONE, anAttemptHere(OPEN)], 1_000, 9_999_999, false],
    ['whose calls are finished is spare', [DONE], 1_000, 1_000, true],
    // Another call of the same claim may not be among what was read.
    [
      'with finished calls that it may not be of is spare unless claimed',
      [DONE],
      999,
      60_999,
      'unless-claimed',
    ],
    [
      'whose calls are at another route is spare unless claimed',
      [ELSEWHERE],
      undefined,
      1_000,
      'unless-claimed',
    ],
    ['whose calls were refused at another route is kept', [REFUSED_ELSEWHERE], undefined, 60_999, false],
    ['whose calls were refused is spare', [anAttemptHere(BUSY)], 1_000, 1_000, true],
    ['whose calls were refused with an earlier permit is kept', [anAttemptHere(BUSY)], 999, 60_999, false],
    ['without a call is kept for a minute', [], undefined, 60_999, false],
    ['without a call is spare after a minute', [], undefined, 61_000, true],
  ])('%s', (_, latest, permitMs, nowMs, spare) => {
    expect(spareAt(nowMs, latest, permitMs)).toBe(spare);
  });

  test('without a call counts its minute from its start', () => {
    expect(spareAt(65_999, [], undefined, { ...permit, startMs: 6_000 })).toBe(false);
    expect(spareAt(66_000, [], undefined, { ...permit, startMs: 6_000 })).toBe(true);
  });
});
