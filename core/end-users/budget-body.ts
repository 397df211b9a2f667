import * as z from 'zod/mini';
import type { Budget } from '../budgets/budget-rules.ts';
import { isAmount, toThousandths } from '../money.ts';

const MESSAGE = 'must be null or an amount of at least 0 with at most 3 decimals';

const isLimit = (value: number): boolean => value >= 0 && isAmount(value);

const limit = () =>
  z._default(z.nullable(z.number({ error: MESSAGE }).check(z.refine(isLimit, { error: MESSAGE }))), null);

/** The body of a budget, in xTokens. `null`, and a missing field: any amount. */
export const BUDGET_BODY = { perDay: limit(), perMonth: limit() };

/** A budget as a body gives it. */
export interface BudgetLimits {
  perDay: number | null;
  perMonth: number | null;
}

/** The budget with these limits; undefined without a limit. */
export const toBudget = ({ perDay, perMonth }: BudgetLimits): Budget | undefined =>
  perDay === null && perMonth === null
    ? undefined
    : {
        ...(perDay !== null && { perDayThousandths: toThousandths(perDay) }),
        ...(perMonth !== null && { perMonthThousandths: toThousandths(perMonth) }),
      };
