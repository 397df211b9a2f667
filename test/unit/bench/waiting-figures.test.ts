import { expect, test } from '@jest/globals';
import { freePermits, mostInSecond, percentile } from '../../../bench/waiting/rules.ts';

test('a percentile is the value that its share of the values does not exceed', () => {
  const values = [5, 1, 4, 2, 3];

  expect([0.2, 0.5, 0.95, 1].map((share) => percentile(values, share))).toEqual([1, 3, 5, 5]);
  expect(percentile([], 0.5)).toBeNaN();
});

test('a second holds the instants from its beginning to before its end', () => {
  expect(mostInSecond([0, 999, 1_000, 1_500, 5_000])).toBe(3);
  expect(mostInSecond([])).toBe(0);
});

const request = (acceptedAt: number, calledAt: number, reportedAt: number, model = 'a') => ({
  ...{ model, acceptedAt, calledAt, reportedAt },
  ...{ doneAt: reportedAt, fetchedAt: reportedAt, queries: 1 },
});

test('only a permit that became free while a request waited counts, until the next call of its route', () => {
  const served = [
    request(10, 11, 100),
    // Waits for the permit that the first one frees.
    request(20, 103, 200),
    // Comes when a permit is free.
    request(300, 340, 400),
    request(0, 50, 60, 'b'),
    request(1, 62, 70, 'b'),
  ];

  expect(freePermits(served, 1)).toEqual([3, 2]);
  expect(freePermits(served, 2)).toEqual([]);
});

test('the permit that is free the longest is used first', () => {
  const served = [request(1, 2, 100), request(1, 2, 110), request(50, 120, 500), request(51, 121, 500)];

  expect(freePermits(served, 2)).toEqual([20, 11]);
});
