import { invalidParameter, missingParameter } from './errors.ts';

type Body = Record<string, unknown>;

/** A text that must be there and not empty. */
export const requiredText = (body: Body, field: string): string => {
  const value = body[field];
  if (value === undefined || value === '') throw missingParameter(field);
  if (typeof value !== 'string') throw invalidParameter(field, 'a string is required');
  return value;
};

/** A text that may be absent. */
export const optionalText = (body: Body, field: string): string | undefined =>
  body[field] === undefined ? undefined : requiredText(body, field);

/** One of some words. */
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

/** True or false. */
export const optionalFlag = (body: Body, field: string, fallback: boolean): boolean => {
  const value = body[field] ?? fallback;
  if (typeof value !== 'boolean') throw invalidParameter(field, 'a boolean is required');
  return value;
};

/** A whole number from `min` to `max`. */
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
