import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  chooseAccount,
  type Gate,
  gatesFor,
  gatesOf,
  HORIZON_MS,
  hasRoom,
  holdersToCheck,
  leaseEndMs,
  type Permit,
  type RouteLimits,
  runningOf,
  startOf,
  type WaitingAccount,
  weightOf,
} from '../../../../core/admission/gate-rules.ts';

const aGate = (limits: RouteLimits): Gate => gatesOf('up/model', limits)[0] as Gate;

describe('the gates of a route', () => {
  test.each<[RouteLimits, number, number | undefined, number | undefined]>([
    [{}, 0, undefined, undefined],
    [{ maxRunning: null, requestsPerSecond: null }, 0, undefined, undefined],
    [{ maxRunning: 5 }, 1, 5, undefined],
    [{ maxRunning: 25, requestsPerSecond: 5 }, 1, 25, 5],
    [{ maxRunning: 26 }, 2, 26, undefined],
    [{ maxRunning: 510 }, 21, 510, undefined],
    [{ requestsPerSecond: 8 }, 1, undefined, 8],
    [{ requestsPerSecond: 60 }, 3, undefined, 60],
    [{ maxRunning: 2, requestsPerSecond: 60 }, 2, 2, 60],
  ])('with %j are %i, which share its limits', (limits, count, permits, perSecond) => {
    const gates = gatesOf('up/model', limits);

    expect(new Set(gates.map(({ name }) => name)).size).toBe(count);
    for (const gate of gates) expect(gate.permits ?? 1).toBeGreaterThan(0);
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
    if (permits !== undefined) expect(sum(gates.map((gate) => gate.permits ?? 0))).toBe(permits);
    if (perSecond !== undefined) {
      expect(sum(gates.map((gate) => 1000 / (gate.intervalMs ?? 0)))).toBeCloseTo(perSecond);
    }
  });

  test('have at most 25 permits and 25 starts a second each', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: 500 }), (maxRunning, rate) => {
        for (const { permits = 0 } of gatesOf('up/model', { maxRunning }))
          expect(permits).toBeLessThanOrEqual(25);
        for (const { intervalMs = 0 } of gatesOf('up/model', { requestsPerSecond: rate })) {
          expect(intervalMs).toBeGreaterThanOrEqual(40);
        }
      }),
    );
  });

  test('to try are one or two different ones, always the same for a request, and all are used', () => {
    const gates = gatesOf('up/model', { maxRunning: 200 });
    const ids = Array.from({ length: 500 }, (_, index) => `vid_01JD4KXQ8M0000000000000${index + 100}`);
    const tried = ids.map((id) => gatesFor(id, gates));

    expect(tried).toEqual(ids.map((id) => gatesFor(id, gates)));
    for (const pair of tried) expect(new Set(pair).size).toBe(2);
    expect(new Set(tried.map(([first]) => first?.name)).size).toBe(gates.length);
    expect(new Set(tried.map(([, second]) => second?.name)).size).toBe(gates.length);
    expect(gatesFor('a', gates.slice(0, 1))).toEqual(gates.slice(0, 1));
    expect(gatesFor('a', [])).toEqual([]);
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

  test('starts are never more than the rate from any start on', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ afterMs: fc.nat(3_000), starts: fc.integer({ min: 1, max: 15 }) }), {
          maxLength: 40,
        }),
        fc.integer({ min: 1, max: 25 }),
        (arrivals, requestsPerSecond) => {
          const gate = aGate({ requestsPerSecond });
          const starts: number[] = [];
          let nowMs = NOW_MS;
          let nextStartMs: number | undefined;
          for (const arrival of arrivals) {
            nowMs += arrival.afterMs;
            if (!hasRoom(gate, { used: 0, nextStartMs }, 1, nowMs)) continue;
            const given = startOf(gate, { nextStartMs }, arrival.starts, nowMs);
            if (given.startMs < nowMs || given.startMs > nowMs + HORIZON_MS)
              throw new Error('Not in its time');
            for (let index = 0; index < arrival.starts; index++) {
              starts.push(given.startMs + index * (gate.intervalMs ?? 0));
            }
            nextStartMs = given.nextStartMs;
          }
          const gaps = starts.slice(1).map((startMs, index) => startMs - (starts[index] ?? 0));
          expect(Math.min(...gaps, 1000 / requestsPerSecond)).toBeCloseTo(1000 / requestsPerSecond);
        },
      ),
    );
  });
});

const anAccount = (accountId: string, servedAt: string, headAt = '5'): WaitingAccount => ({
  ...{ accountId, servedAt, headAt },
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
    [
      'among those served at the same time the oldest',
      [anAccount('a', '1', '3'), anAccount('b', '1', '2')],
      {},
      'b',
    ],
    ['whichever, but always the same, if all is equal', [anAccount('b', '1'), anAccount('a', '1')], {}, 'a'],
  ])('is %s', (_, accounts, counts, expected) => {
    expect(chooseAccount(accounts, running(counts))?.accountId).toBe(expected);
  });

  test('is counted by the weight of its permits', () => {
    const permit = (accountId: string, weight: number): Permit => ({
      accountId,
      weight,
      takenMs: 0,
      untilMs: 0,
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

describe('a lease', () => {
  test('is checked a minute after the permit was taken, then every five minutes', () => {
    expect(leaseEndMs(1_000)).toBe(61_000);
    expect(leaseEndMs(1_000, true)).toBe(301_000);
  });

  test('that has run out names its holder', () => {
    const permit = (untilMs: number): Permit => ({ accountId: 'a', weight: 1, takenMs: 0, untilMs });
    const permits = new Map([
      ['over', permit(99)],
      ['just over', permit(100)],
      ['not yet', permit(101)],
    ]);

    expect(holdersToCheck({ permits }, 100)).toEqual(['over', 'just over']);
  });
});
