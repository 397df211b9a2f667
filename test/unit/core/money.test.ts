import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { toThousandths, toXTokens } from '../../../core/money.ts';

/** 10^12 xTokens in thousandths: far more than any balance, and well within what a double tells apart. */
const LARGEST_THOUSANDTHS = 10 ** 15;
const thousandths = fc.integer({ min: -LARGEST_THOUSANDTHS, max: LARGEST_THOUSANDTHS });

describe('money', () => {
  test.each([
    [0, 0],
    [1, 1_000],
    [0.001, 1],
    [0.1, 100],
    [0.3, 300],
    [1.005, 1_005],
    [4.35, 4_350],
    [999_999_999.999, 999_999_999_999],
    [-2.5, -2_500],
  ])('reads %p xTokens as %p thousandths, and back', (xTokens, amount) => {
    expect(toThousandths(xTokens)).toBe(amount);
    expect(toXTokens(amount)).toBe(xTokens);
  });

  test('is shown as a decimal with at most 3 places, and comes back unchanged, whatever the amount', () => {
    fc.assert(
      fc.property(thousandths, (amount) => {
        expect(String(toXTokens(amount))).toMatch(/^-?\d+(\.\d{1,3})?$/);
        expect(toThousandths(toXTokens(amount))).toBe(amount);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    0.0001,
    0.0005,
    1.2345,
    0.1 + 0.2,
    1e-9,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.MAX_SAFE_INTEGER,
    1e13,
    Number.MAX_VALUE,
  ])('refuses %p: not a finite amount of at most 3 decimals that integers can hold', (xTokens) => {
    expect(() => toThousandths(xTokens)).toThrow(
      new RangeError(`${xTokens} is not an amount of xTokens with at most 3 decimals.`),
    );
  });

  test('refuses every amount with a fourth decimal', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -(10 ** 9), max: 10 ** 9 }).filter((amount) => amount % 10 !== 0),
        (tenThousandths) => {
          expect(() => toThousandths(tenThousandths / 10_000)).toThrow(RangeError);
        },
      ),
    );
  });
});
