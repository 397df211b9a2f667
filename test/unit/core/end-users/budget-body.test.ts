import { describe, expect, test } from '@jest/globals';
import { BUDGET_BODY, toBudget } from '../../../../core/end-users/budget-body.ts';
import { parseFields } from '../../../../core/fields.ts';

const PROBLEM = 'must be null or an amount of at least 0 with at most 3 decimals';

describe('the body of a budget', () => {
  test.each([
    [{}, { perDay: null, perMonth: null }],
    [{ perDay: 0 }, { perDay: 0, perMonth: null }],
    [
      { perDay: 0.001, perMonth: null },
      { perDay: 0.001, perMonth: null },
    ],
    [
      { perDay: 12.125, perMonth: 1_000_000_000 },
      { perDay: 12.125, perMonth: 1_000_000_000 },
    ],
  ])('%j is read', (body, values) => {
    expect(parseFields(BUDGET_BODY, body)).toEqual({ values, fields: {} });
  });

  test.each([-1, -0.001, 0.0001, 1e300, '5', true, [], {}])('refuses the amount %j', (perDay) => {
    expect(parseFields(BUDGET_BODY, { perDay }).fields).toEqual({ perDay: PROBLEM });
  });

  test('refuses what it does not know', () => {
    expect(parseFields(BUDGET_BODY, { perWeek: 5 }).fields).toEqual({ perWeek: 'is not a known field' });
  });

  test('is a budget in thousandths; without limits it is none', () => {
    expect(toBudget({ perDay: 0, perMonth: 12.125 })).toEqual({
      ...{ perDayThousandths: 0, perMonthThousandths: 12_125 },
    });
    expect(toBudget({ perDay: null, perMonth: 5 })).toStrictEqual({ perMonthThousandths: 5_000 });
    expect(toBudget({ perDay: 5, perMonth: null })).toStrictEqual({ perDayThousandths: 5_000 });
    expect(toBudget({ perDay: null, perMonth: null })).toBeUndefined();
  });
});
