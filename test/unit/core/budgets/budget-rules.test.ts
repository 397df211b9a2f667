import { describe, expect, test } from '@jest/globals';
import { budgetSpent, endOfPeriod, limitsAt, periodsOf } from '../../../../core/budgets/budget-rules.ts';

describe('a period of a budget', () => {
  test('is the UTC day and the calendar month of an instant', () => {
    expect(periodsOf('2026-11-24T23:59:59.999Z')).toEqual({ day: '2026-11-24', month: '2026-11' });
  });

  test.each([
    ['2026-11-24', '2026-11-25T00:00:00.000Z'],
    ['2026-12-31', '2027-01-01T00:00:00.000Z'],
    ['2028-02-28', '2028-02-29T00:00:00.000Z'],
    ['2026-11', '2026-12-01T00:00:00.000Z'],
    ['2026-12', '2027-01-01T00:00:00.000Z'],
    ['2027-01', '2027-02-01T00:00:00.000Z'],
    ['2027-02', '2027-03-01T00:00:00.000Z'],
  ])('%s ends when the next one begins, at %s', (period, end) => {
    expect(endOfPeriod(period)).toBe(end);
  });
});

test('a budget limits the day and the month, or one of them', () => {
  expect(limitsAt({ perMonthThousandths: 5 }, '2026-11-24T10:00:00.000Z')).toEqual([
    { period: '2026-11-24', limit: undefined },
    { period: '2026-11', limit: 5 },
  ]);
});

test('a refusal says whose budget it is, of what, what is spent of it, what the request costs and when it renews', () => {
  const owner = { id: 'key_1', kind: 'API key' as const, budget: {} };

  expect(budgetSpent(owner, { period: '2026-11', limit: 1_000_000 }, 999_500, 1_250)).toMatchObject({
    code: 'payment_required',
    message:
      "This request costs 1.25 xTokens; the API key's monthly budget is 1,000 xTokens, of which 999.5 xTokens are spent. It renews at 2026-12-01T00:00:00.000Z.",
  });
});
