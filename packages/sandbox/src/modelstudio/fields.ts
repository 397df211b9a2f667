/** Maximum of `seed`: the largest signed 32-bit integer. */
export const MAX_SEED = 2_147_483_647;

/** Whether a value is an integer from `min` to `max`, inclusive. */
export const isIntegerWithin = (value: unknown, min: number, max: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;

/** Whether a value is a boolean. */
export const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
