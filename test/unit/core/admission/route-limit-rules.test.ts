import { describe, expect, test } from '@jest/globals';
import type { WaitingAccount } from '../../../../core/admission/queue-entries.ts';
import {
  chooseAccount,
  HORIZON_MS,
  hasRoom,
  type Permit,
  type RouteLimit,
  type RouteLimitSettings,
  routeLimitOf,
  runningOf,
  weightOf,
} from '../../../../core/admission/route-limit-rules.ts';

const aLimit = (limits: RouteLimitSettings): RouteLimit => routeLimitOf('up/model', limits);

describe('the limit of a route', () => {
  test.each<[RouteLimitSettings, number | undefined, number | undefined]>([
    [{ maxRunning: 5 }, 5, undefined],
    [{ maxRunning: 200, requestsPerSecond: 5 }, 200, 200],
    [{ requestsPerSecond: 8, maxRunning: null }, undefined, 125],
    [{}, undefined, undefined],
    [{ maxRunning: null, requestsPerSecond: null }, undefined, undefined],
  ])('with %j has %s permits and %s ms between two starts', (limits, permits, intervalMs) => {
    expect(routeLimitOf('up/model', limits)).toEqual({ name: 'up/model', permits, intervalMs });
  });
});

describe('the room of a route', () => {
  const NOW_MS = 1_000_000;

  test.each([
    [0, 5, true],
    [1, 4, true],
    [1, 5, false],
    [5, 1, false],
    [7, 1, false],
  ])('with %i of 5 permits used and %i wanted: %s', (used, weight, room) => {
    expect(hasRoom(aLimit({ maxRunning: 5 }), { used, nextStartMs: undefined }, weight, NOW_MS)).toBe(room);
  });

  test.each([
    [undefined, true, true],
    [NOW_MS, true, true],
    [NOW_MS + 1, false, true],
    [NOW_MS + HORIZON_MS, false, true],
    [NOW_MS + HORIZON_MS + 1, false, false],
  ])('with the next start at %s: without a rate %s, with one %s', (nextStartMs, unrated, rated) => {
    expect(hasRoom(aLimit({ maxRunning: 5 }), { used: 0, nextStartMs }, 1, NOW_MS)).toBe(unrated);
    expect(hasRoom(aLimit({ requestsPerSecond: 5 }), { used: 9, nextStartMs }, 1, NOW_MS)).toBe(rated);
  });

  test('is asked for by as many calls as the route has permits, at most', () => {
    expect(weightOf(15, aLimit({ maxRunning: 5 }))).toBe(5);
    expect(weightOf(3, aLimit({ maxRunning: 5 }))).toBe(3);
    expect(weightOf(15, aLimit({ requestsPerSecond: 5 }))).toBe(15);
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
