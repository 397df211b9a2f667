/** An amount of xTokens in whole thousandths: the only form money is stored and computed in. */
export type Thousandths = number;

/** The decimal number the API shows for an amount. Exact: the nearest double of a number with 3 decimals. */
export const toXTokens = (amount: Thousandths): number => amount / 1000;

/**
 * Whole thousandths of a decimal amount of xTokens. Throws `RangeError` when the amount is not finite, has
 * more than 3 decimals, or is too large for exact integer arithmetic.
 */
export const toThousandths = (xTokens: number): Thousandths => {
  const thousandths = Math.round(xTokens * 1000);
  if (!Number.isSafeInteger(thousandths) || toXTokens(thousandths) !== xTokens) {
    throw new RangeError(`${xTokens} is not an amount of xTokens with at most 3 decimals.`);
  }
  return thousandths;
};
