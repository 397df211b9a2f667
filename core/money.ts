/** An amount of xTokens in whole thousandths. Amounts are stored and computed only in this unit. */
export type Thousandths = number;

/**
 * An amount as the API shows it: the double closest to the decimal number, so it prints with at most 3
 * decimals.
 */
export const toXTokens = (amount: Thousandths): number => amount / 1000;

/**
 * A decimal amount of xTokens in thousandths. Throws `RangeError` when the amount is not finite, has more
 * than 3 decimals, or is too large for exact integer arithmetic.
 */
export const toThousandths = (xTokens: number): Thousandths => {
  const thousandths = Math.round(xTokens * 1000);
  if (!Number.isSafeInteger(thousandths) || toXTokens(thousandths) !== xTokens) {
    throw new RangeError(`${xTokens} is not an amount of xTokens with at most 3 decimals.`);
  }
  return thousandths;
};
