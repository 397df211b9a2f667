/** An amount of xTokens in whole thousandths. Amounts are stored and computed only in this unit. */
export type Thousandths = number;

/**
 * The most an operator may enter: as the amount of a change, as the balance after a credit, and as a price; 1,000,000,000 xTokens. Sums of
 * such amounts stay far below 2^53, above which numbers are not exact. So a refund never fails for the balance it leads to, and
 * has no limit of its own.
 */
export const MAX_THOUSANDTHS: Thousandths = 1_000_000_000_000;

/**
 * An amount as the API shows it: the double closest to the decimal number, so it prints with at most 3
 * decimals.
 */
export const toXTokens = (amount: Thousandths): number => amount / 1000;

/** Whether a number of xTokens is finite, has at most 3 decimals, and is small enough for exact integer arithmetic. */
export const isAmount = (xTokens: number): boolean => {
  const thousandths = Math.round(xTokens * 1000);
  return Number.isSafeInteger(thousandths) && toXTokens(thousandths) === xTokens;
};

/** The problem with a number that is no amount. */
export const amountProblem = (xTokens: number): string =>
  `${xTokens} is not an amount of xTokens with at most 3 decimals.`;

/** An amount of xTokens in thousandths. Throws `RangeError` for a number that is no amount. */
export const toThousandths = (xTokens: number): Thousandths => {
  if (!isAmount(xTokens)) throw new RangeError(amountProblem(xTokens));
  return Math.round(xTokens * 1000);
};
