import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
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
    const permit = (accountId: string, weight: number): Permit => ({
      accountId,
      weight,
      takenMs: 0,
    });
    const permits = new Map([
      ['1', permit('a', 2)],
      ['2', permit('b', 1)],
      ['3', permit('a', 3)],
    ]);

    expect(runningOf({ permits })).toEqual(running({ a: 5, b: 1 }));
  });

  /**
   * A route on paper: every running request may finish, in any order, and the next of the accounts is let in. Returns how
   * many finishings each request waited for, and the bound when it came to be its account's oldest.
   */
  const play = (permits: number, arrivals: readonly number[], finishings: readonly number[]) => {
    const queues = new Map<string, { waited: number; bound: number | undefined }[]>();
    const served = new Map<string, string>();
    const active: string[] = [];
    let [time, worst] = [0, 0];
    const at = () => String(time).padStart(6, '0');
    const counts = () =>
      running(
        Object.fromEntries(
          Map.groupBy(active, (id) => id)
            .entries()
            .map(([id, all]) => [id, all.length]),
        ),
      );
    const waiting = () =>
      [...queues].filter(([, queue]) => queue.length > 0).map(([id]) => anAccount(id, served.get(id) ?? ''));
    const setBounds = () => {
      for (const [id, queue] of queues) {
        const head = queue[0];
        if (!head || head.bound !== undefined || (counts().get(id) ?? 0) > 0) continue;
        const ahead = waiting().filter(
          (other) =>
            other.accountId !== id &&
            (counts().get(other.accountId) ?? 0) === 0 &&
            other.servedAt < (served.get(id) ?? ''),
        );
        head.bound = head.waited + 1 + ahead.length;
      }
    };
    const letIn = () => {
      while (active.length < permits) {
        const next = chooseAccount(waiting(), counts())?.accountId;
        if (next === undefined) return;
        const head = queues.get(next)?.shift();
        if (head?.bound !== undefined) worst = Math.max(worst, head.waited - head.bound);
        active.push(next);
        served.set(next, at());
      }
    };
    for (const [step, arrival] of arrivals.entries()) {
      time++;
      const id = `account-${arrival}`;
      const queue = queues.get(id) ?? [];
      if (queue.length === 0) served.set(id, at());
      queues.set(id, [...queue, { waited: 0, bound: undefined }]);
      letIn();
      setBounds();
      for (let times = finishings[step] ?? 0; times > 0 && active.length > 0; times--) {
        time++;
        for (const all of queues.values()) for (const one of all) one.waited++;
        const [finished] = active.splice((step * 7) % active.length, 1);
        if (finished !== undefined) served.set(finished, at());
        letIn();
        setBounds();
      }
    }
    return worst;
  };

  test('lets nobody with nothing running wait for more than one finishing and one for each account before it that has nothing running either', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.nat(5), { maxLength: 120 }),
        fc.array(fc.nat(3), { maxLength: 120 }),
        (permits, arrivals, finishings) => {
          expect(play(permits, arrivals, finishings)).toBeLessThanOrEqual(0);
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('a permit taken at 1,000 ms', () => {
  const permit: Permit = { accountId: 'a', weight: 1, takenMs: 1_000 };
  /** Whether it can be taken back when the latest attempts have these outcomes. */
  const spareAt = (nowMs: number, latest: ProviderAttempt[], permitMs?: number, taken = permit): boolean =>
    isSpare(taken, { permitMs }, { latest, here: latest.filter(isHere) }, nowMs);
  const isHere = ({ upstreamModel }: ProviderAttempt): boolean => upstreamModel !== 'other';
  const anAttemptHere = (outcome: AttemptOutcome | undefined) => anAttempt({ outcome });
  const OPEN = { kind: 'accepted', taskId: 'task' } as const;
  const BUSY = { kind: 'busy', reason: 'full' } as const;

  test.each<[string, ProviderAttempt[], number | undefined, number, boolean]>([
    ['with a call that is being made is kept', [anAttemptHere(undefined)], 1_000, 9_999_999, false],
    ['with an open task is kept, however old', [anAttemptHere(OPEN)], 1_000, 9_999_999, false],
    [
      'with an open task beside a finished one is kept',
      [anAttemptHere(aDone('a')), anAttemptHere(OPEN)],
      1_000,
      9_999_999,
      false,
    ],
    ['whose calls are finished is spare', [anAttemptHere(aDone('a'))], undefined, 1_000, true],
    [
      'whose calls are under way at another route is spare',
      [anAttempt({ outcome: OPEN, upstreamModel: 'other' })],
      undefined,
      1_000,
      true,
    ],
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
