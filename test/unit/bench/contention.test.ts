import { describe, expect, test } from '@jest/globals';
import { runSituation } from '../../../bench/contention/model.ts';

const SEEDS = [1, 2, 3];
const all = (situation: Omit<Parameters<typeof runSituation>[0], 'seed'>) =>
  SEEDS.map((seed) => runSituation({ ...situation, seed }));

describe('one account, with 5 % refunds,', () => {
  test.each([
    [50, 8],
    [40, 15],
    [25, 25],
  ])(
    'accepts every one of %p creations a second when transactions hold items for %p ms',
    (creationsPerSecond, holdMs) => {
      for (const { accepted, triesPerWriter } of all({ creationsPerSecond, holdMs })) {
        expect(accepted).toBe(1);
        expect(triesPerWriter).toBeLessThan(8);
      }
    },
  );

  test.each([8, 15, 25])('accepts a burst of 100 within 5 s with holds of %p ms', (holdMs) => {
    for (const { accepted, slowestMs } of all({ burst: 100, holdMs })) {
      expect(accepted).toBe(1);
      expect(slowestMs).toBeLessThanOrEqual(5_000);
    }
  });

  test.each([8, 15, 25])(
    'accepts 20 creations a second beside 200 refunds at once, which are made within 30 s, with holds of %p ms',
    (holdMs) => {
      for (const { accepted, refunds, slowestRefundMs } of all({
        creationsPerSecond: 20,
        refundsAtOnce: 200,
        holdMs,
      })) {
        expect(accepted).toBe(1);
        expect(refunds).toBeGreaterThanOrEqual(200);
        expect(slowestRefundMs).toBeLessThanOrEqual(30_000);
      }
    },
  );

  test('would not, if end-users and idempotency records were in its partition', () => {
    const outcomes = all({ creationsPerSecond: 40, holdMs: 15, unitsPerTry: 6 });

    expect(Math.min(...outcomes.map(({ accepted }) => accepted))).toBeLessThan(1);
  });
});

test('a hundred accounts accept 1,000 creations a second, 99 % of them within 150 ms', () => {
  const { accepted, p99Ms } = runSituation({ creationsPerSecond: 1_000, accounts: 100, holdMs: 8, seed: 1 });

  expect(accepted).toBe(1);
  expect(p99Ms).toBeLessThanOrEqual(150);
});
