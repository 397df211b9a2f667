import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Pace } from '../../../../core/concurrency/pace.ts';
import { elapsed, fakeTime, passing, wait } from '../../builders/runs.ts';

beforeEach(fakeTime);
afterEach(() => {
  jest.useRealTimers();
});

/** Makes calls of a second each, by their ranks; returns which started when. */
const started = async (pace: Pace, ranks: readonly number[]): Promise<[rank: number, second: number][]> => {
  const starts: [number, number][] = [];
  const calls = ranks.map((rank) =>
    pace.during(async () => {
      starts.push([rank, elapsed()]);
      await wait(1);
    }, rank),
  );
  await passing(Promise.all(calls));
  return starts;
};
const paceOf = (atOnce: number, intervalMs: number): Pace => new Pace(atOnce, intervalMs, () => Date.now());

test('so many calls are under way at once, and the lowest rank goes first', async () => {
  expect(await started(paceOf(2, 0), [5, 9, 3, 7, 1])).toEqual([
    [5, 0],
    [9, 0],
    [1, 1],
    [3, 1],
    [7, 2],
  ]);
});

test('calls of one rank go in the order in which they came', async () => {
  const order: number[] = [];
  const pace = paceOf(1, 0);
  await Promise.all([0, 1, 2, 3].map((number) => pace.during(async () => order.push(number))));

  expect(order).toEqual([0, 1, 2, 3]);
});

test('one call starts so long after another at the earliest', async () => {
  expect(await started(paceOf(9, 250), [0, 0, 0])).toEqual([
    [0, 0],
    [0, 0.25],
    [0, 0.5],
  ]);
});

test('a call that fails makes room for the next', async () => {
  const pace = paceOf(1, 0);
  await expect(pace.during(() => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');

  expect(await pace.during(async () => 'next')).toBe('next');
});
