import { describe, expect, test } from '@jest/globals';
import { nextQueryMs } from '../../../../core/reconciler/check.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';

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
    expect([pause(10, { notBefore: 70 }), pause(10, { notBefore: 11 })]).toEqual([60, 2]);
  });

  test('is not held off by a clock that was ahead', () => {
    expect(pause(10, { notBefore: 3_600 })).toBe(2);
  });
});
