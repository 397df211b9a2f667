import { beforeAll, describe, expect, test } from '@jest/globals';
import { measureApart } from '../simulation/child.ts';
import type { Measured } from '../simulation/known-faults/measurements.ts';

const TIMEOUT_MS = 170_000;

const CREATIONS = 10_000;

describe(`10,000 creations against budgets, at once, with faults and refunds, over three days`, () => {
  let measured: Measured<'budgets'>;
  beforeAll(async () => {
    measured = await measureApart('budgets', TIMEOUT_MS, CREATIONS);
  }, TIMEOUT_MS);

  test('spend at no time more than a budget of an end-user or the API key', () => {
    const { over, ...counted } = measured.spent;

    expect(over).toEqual([]);
    expect(counted.creations).toBeGreaterThanOrEqual(CREATIONS);
    for (const many of [counted.accepted, counted.refused, counted.refunds, counted.faultsMet])
      expect(many).toBeGreaterThan(30);
    expect(counted.unjudged).toBeLessThan(CREATIONS / 20);
  });

  test('are counted exactly, with every refund on the day of its debit', () => {
    expect(measured.spent.wrong).toEqual([]);
  });

  test('spend more when what is counted is never refused, which is noticed', () => {
    expect(measured.unguarded.over.length).toBeGreaterThan(0);
  });
});
