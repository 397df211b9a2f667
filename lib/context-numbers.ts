import { z } from 'zod';

/** A context value that is a number. From the command line (`-c key=value`) it is text; in `cdk.json` it can have any type. */
const numberThat = (isRight: (value: number) => boolean, expected: string) =>
  z.preprocess((given, context) => {
    // Empty text would convert to 0.
    const isGiven = typeof given === 'number' || (typeof given === 'string' && given.trim() !== '');
    const value = isGiven ? Number(given) : Number.NaN;
    if (isRight(value)) return value;
    context.addIssue(`Expected ${expected}, not ${JSON.stringify(given)}`);
    return z.NEVER;
  }, z.number());

/** A number between two. */
export const number = (minimum: number, maximum: number) =>
  numberThat((value) => value >= minimum && value <= maximum, `a number from ${minimum} to ${maximum}`);

/** A whole number between two. */
export const wholeNumber = (minimum: number, maximum: number) =>
  numberThat(
    (value) => Number.isInteger(value) && value >= minimum && value <= maximum,
    `a whole number from ${minimum} to ${maximum}`,
  );

/** One of some numbers. */
export const numberOf = (values: readonly number[]) =>
  numberThat((value) => values.includes(value), `one of ${values.join(', ')}`);

/** Different whole numbers between two, at most `most`, separated by commas. */
export const wholeNumbers = (minimum: number, maximum: number, most: number) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? value.split(',') : value),
    z
      .array(wholeNumber(minimum, maximum))
      .min(1)
      .max(most)
      .refine((numbers) => new Set(numbers).size === numbers.length, 'Expected different numbers'),
  );
