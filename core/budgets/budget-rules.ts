import * as z from 'zod/mini';
import { BudgetSpentError } from '../errors.ts';
import { type Thousandths, toXTokens } from '../money.ts';
import { addSeconds, type Instant, SECONDS_PER_DAY, toInstant } from '../time.ts';

/**
 * A budget: the limits on the spending of an end-user or an API key, less refunds, in a UTC day and in a calendar month. Absent:
 * no limit.
 */
export const Budget = z.object({
  perDayThousandths: z.optional(z.number()),
  perMonthThousandths: z.optional(z.number()),
});
export type Budget = z.infer<typeof Budget>;

/** The limits of a budget in xTokens; null: any amount. */
export const shownLimits = ({ perDayThousandths: perDay, perMonthThousandths: perMonth }: Budget) => ({
  perDay: perDay === undefined ? null : toXTokens(perDay),
  perMonth: perMonth === undefined ? null : toXTokens(perMonth),
});

/** The spending, less refunds, in the day and in the month of an instant. */
export interface Spending {
  dayThousandths: Thousandths;
  monthThousandths: Thousandths;
}

/** Somebody whose spending is counted: an end-user or a key, by id. */
export interface BudgetOwner {
  id: string;
  kind: 'end-user' | 'API key';
  budget: Budget;
}

/** The UTC day and the month of an instant, as spending is counted by them: `2026-11-24` and `2026-11`. */
export const periodsOf = (instant: Instant): { day: string; month: string } => ({
  day: instant.slice(0, 10),
  month: instant.slice(0, 7),
});

const isDay = (period: string): boolean => period.length > 'YYYY-MM'.length;

const DAYS_OF_LONGEST_MONTH = 31;

/** The end of a day or month: the start of the next period. */
export const endOfPeriod = (period: string): Instant => {
  const start = toInstant(new Date(period));
  if (isDay(period)) return addSeconds(start, SECONDS_PER_DAY);
  const inNextMonth = addSeconds(start, DAYS_OF_LONGEST_MONTH * SECONDS_PER_DAY);
  return toInstant(new Date(periodsOf(inNextMonth).month));
};

/** The two limits of a budget, each with the period at an instant in which spending counts. */
export const limitsAt = (
  { perDayThousandths, perMonthThousandths }: Budget,
  instant: Instant,
): { period: string; limit: Thousandths | undefined }[] => {
  const { day, month } = periodsOf(instant);
  return [
    { period: day, limit: perDayThousandths },
    { period: month, limit: perMonthThousandths },
  ];
};

/** The refusal of a creation that costs more than a limit leaves. */
export const budgetSpent = (
  { kind }: BudgetOwner,
  { period, limit = 0 }: { period: string; limit: Thousandths | undefined },
  spent: Thousandths,
  price: Thousandths,
): BudgetSpentError => {
  const owner = `${kind}'s ${isDay(period) ? 'daily' : 'monthly'} budget`;
  return new BudgetSpentError(price, owner, { limit, spent, renewsAt: endOfPeriod(period) });
};
