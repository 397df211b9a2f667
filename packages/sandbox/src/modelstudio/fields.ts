/** Seeds end here: the largest signed number of 32 bits. */
export const LARGEST_SEED = 2_147_483_647;

/** Whether a value is a whole number from `min` to `max`. */
export const isIntegerWithin = (value: unknown, min: number, max: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;

/** Whether a value is true or false. */
export const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
