import { invalidParameter, missingParameter } from './errors.ts';

type Body = Record<string, unknown>;

/** Reads a required, non-empty string. Throws `MissingParameter` or `InvalidParameter`. */
export const requiredText = (body: Body, field: string): string => {
  const value = body[field];
  if (value === undefined || value === '') throw missingParameter(field);
  if (typeof value !== 'string') throw invalidParameter(field, 'a string is required');
  return value;
};

/** Reads a non-empty string; undefined when absent. Throws `MissingParameter` when empty, else `InvalidParameter`. */
export const optionalText = (body: Body, field: string): string | undefined =>
  body[field] === undefined ? undefined : requiredText(body, field);

/** Reads one of `choices`. Throws `InvalidParameter`. */
export const optionalChoice = <Choice extends string>(
  body: Body,
  field: string,
  choices: readonly Choice[],
  fallback: Choice,
): Choice => {
  const value = body[field] ?? fallback;
  const choice = choices.find((candidate) => candidate === value);
  if (choice === undefined) throw invalidParameter(field, `expected one of ${choices.join(', ')}`);
  return choice;
};

/** Reads a boolean. Throws `InvalidParameter`. */
export const optionalFlag = (body: Body, field: string, fallback: boolean): boolean => {
  const value = body[field] ?? fallback;
  if (typeof value !== 'boolean') throw invalidParameter(field, 'a boolean is required');
  return value;
};

/** Reads an integer from `min` to `max`, inclusive. Throws `InvalidParameter`. */
export const optionalInteger = (
  body: Body,
  field: string,
  { min, max, fallback }: { min: number; max: number; fallback: number },
): number => {
  const value = body[field] ?? fallback;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw invalidParameter(field, `expected an integer from ${min} to ${max}`);
  }
  return value;
};
