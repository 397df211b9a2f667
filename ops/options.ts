import { InvalidArgumentError } from 'commander';
import { isEmail, normalizeEmail } from '../core/end-users/email-rules.ts';
import { CATALOG } from '../core/models/catalog.ts';
import { Rate } from '../core/models/rate-schemas.ts';
import { MAX_THOUSANDTHS, type Thousandths, toThousandths, toXTokens } from '../core/money.ts';
import { RECORD_STATUSES, type RecordStatus } from '../core/requests/request-rules.ts';
import { MAX_PAGE_SIZE } from '../core/table/pages.ts';
import { addSeconds, type Instant, parseIso8601, systemClock, toInstant } from '../core/time.ts';

/** A text, trimmed; may be empty. Refuses a value that looks like an option: the real value was forgotten. */
const anyText = (value: string): string => {
  if (/^--[a-z]/.test(value)) throw new InvalidArgumentError('Its value is missing.');
  return value.trim();
};

/** A text, trimmed; not empty. */
export const text = (value: string): string => {
  if (value.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return anyText(value);
};

/** Most characters in a name, a note, a label and an idempotency key: a line to read, and far below what an item may hold. */
const MAX_CHARACTERS = 255;

const withinLimit = (value: string): string => {
  if ([...value].length <= MAX_CHARACTERS) return value;
  throw new InvalidArgumentError(`It must hold at most ${MAX_CHARACTERS} characters.`);
};

/** A name: 1 to 255 characters, trimmed. */
export const name = (value: string): string => withinLimit(text(value));

/** A note or label: up to 255 characters, trimmed; may be empty. */
export const note = (value: string): string => withinLimit(anyText(value));

/** An alias of a model: 1 to 100 letters, digits and marks, as names of models have them. */
export const alias = (value: string): string => {
  if (/^[A-Za-z0-9][\w.:@/-]{0,99}$/.test(value)) return value;
  throw new InvalidArgumentError('It must be a name like gpt-image-1: letters, digits and . _ : @ / -');
};

/** An idempotency key: 1 to 255 characters, taken as they are. */
export const idempotencyKey = (value: string): string => {
  anyText(value);
  const characters = [...value].length;
  if (characters >= 1 && characters <= MAX_CHARACTERS) return value;
  throw new InvalidArgumentError(`It must hold 1 to ${MAX_CHARACTERS} characters.`);
};

const amount = (value: string): Thousandths => {
  const problem = 'It must be a number of xTokens with at most 3 decimals.';
  // No separators: a comma may be meant as one, or as the decimal point.
  if (!/^[+-]?\d+(\.\d{1,3})?$/.test(value)) throw new InvalidArgumentError(problem);
  // Larger numbers may have lost their decimals, so they are compared before.
  if (Math.abs(Number(value)) > toXTokens(MAX_THOUSANDTHS)) {
    throw new InvalidArgumentError(`It must be at most ${toXTokens(MAX_THOUSANDTHS)}.`);
  }
  return toThousandths(Number(value));
};

/** An amount of xTokens above 0, in thousandths. */
export const positiveAmount = (value: string): Thousandths => {
  const thousandths = amount(value);
  if (thousandths <= 0) throw new InvalidArgumentError('It must be more than 0.');
  return thousandths;
};

/** An amount of xTokens, 0 or more, in thousandths. */
export const amountOrNothing = (value: string): Thousandths => {
  const thousandths = amount(value);
  if (thousandths < 0) throw new InvalidArgumentError('It must not be below 0.');
  return thousandths;
};

/** A signed amount of xTokens other than 0, in thousandths. */
export const signedAmount = (value: string): Thousandths => {
  const thousandths = amount(value);
  if (thousandths === 0) throw new InvalidArgumentError('It must not be 0.');
  return thousandths;
};

const wholeNumber =
  (minimum: number, maximum: number) =>
  (value: string): number => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= minimum && number <= maximum) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
  };

/** A page number, from 1. */
export const pageNumber = wholeNumber(1, 1_000_000);

/** Items per page, within the API's limit. */
export const pageSize = wholeNumber(1, MAX_PAGE_SIZE);

/** Requests per second: above 0, at most 10,000, with up to 3 decimals. */
export const requestsPerSecond = (value: string): number => {
  const number = /^\d+(\.\d{1,3})?$/.test(value) ? Number(value) : Number.NaN;
  if (number > 0 && number <= 10_000) return number;
  throw new InvalidArgumentError('It must be a number above 0 and up to 10000.');
};

/** Requests allowed at once: 1 to 100,000. */
export const burst = wholeNumber(1, 100_000);

const SECONDS_PER_UNIT: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** A duration with its unit, like 90s, 10m, 2h or 1d, in seconds. */
export const seconds = (value: string): number => {
  const [, number, unit = ''] = /^(\d{1,6})([smhd])$/.exec(value) ?? [];
  const unitSeconds = SECONDS_PER_UNIT[unit];
  if (unitSeconds === undefined) {
    throw new InvalidArgumentError('It must be a whole number with a unit: 90s, 10m, 2h or 1d.');
  }
  return Number(number) * unitSeconds;
};

/** An instant in whole seconds, or `latest`. */
export const instantOrLatest = (value: string): Instant | 'latest' => {
  if (value === 'latest') return value;
  const instant = parseIso8601(value);
  if (instant === undefined) {
    throw new InvalidArgumentError('It must be a time like 2026-11-23T22:15:00Z, or latest.');
  }
  return `${instant.slice(0, 19)}.000Z`;
};

/** One of these words. */
export const oneOf = <Word extends string>(known: readonly Word[], value: string): Word => {
  const found = known.find((word) => word === value);
  if (found !== undefined) return found;
  throw new InvalidArgumentError(`It must be one of ${known.join(', ')}.`);
};

/** The status of a request. */
export const recordStatus = (value: string): RecordStatus => oneOf(RECORD_STATUSES, value);

/** The address of an end-user, normalized. */
export const email = (value: string): string => {
  const normalized = normalizeEmail(value);
  if (isEmail(normalized)) return normalized;
  throw new InvalidArgumentError('It must be an email address.');
};

/** The address of an end-user, normalized, or `none`. Not undefined: Commander would make that an empty text. */
export const emailOrNone = (value: string): string => (value === 'none' ? value : email(value));

/** A month like 2026-11: its beginning, and that of the next. */
export const month = (value: string): { from: Instant; to: Instant } => {
  const from = /^\d{4}-\d{2}$/.test(value) ? parseIso8601(`${value}-01`) : undefined;
  if (from === undefined) throw new InvalidArgumentError('It must be a month like 2026-11.');
  const next = new Date(from);
  next.setUTCMonth(next.getUTCMonth() + 1);
  return { from, to: toInstant(next) };
};

/** An instant: an ISO 8601 date or date-time, or how long ago: 90s, 10m, 2h, 7d. */
export const since = (value: string): Instant => {
  const instant = parseIso8601(value);
  if (instant !== undefined) return instant;
  if (!/^\d{1,6}[smhd]$/.test(value)) {
    throw new InvalidArgumentError('It must be a date like 2026-11-01, a date-time, or how long ago: 7d.');
  }
  return addSeconds(toInstant(systemClock.now()), -seconds(value));
};

/** An instant: an ISO 8601 date or date-time, or how long from now: 90s, 10m, 2h, 30d. */
export const dateOrDuration = (value: string): Instant => {
  const instant = parseIso8601(value);
  if (instant !== undefined) return instant;
  if (!/^\d{1,6}[smhd]$/.test(value)) {
    throw new InvalidArgumentError(
      'It must be a date like 2027-01-31, a date-time, or how long from now: 30d.',
    );
  }
  return addSeconds(toInstant(systemClock.now()), seconds(value));
};

/** How many items to print: 1 to 10,000. */
export const limit = wholeNumber(1, 10_000);

/** A factor of a price above 0 and up to 100, with at most 3 decimals, in thousandths. */
export const factorThousandths = (value: string): number => {
  const factor = /^\d{1,3}(\.\d{1,3})?$/.test(value) ? toThousandths(Number(value)) : 0;
  if (factor > 0 && factor <= 100_000) return factor;
  throw new InvalidArgumentError('It must be a number above 0 and up to 100, with at most 3 decimals.');
};

const RATE_FORMS =
  'It must be JSON like {"perImage":[{"maxPixels":1048576,"xTokens":4},{"maxPixels":null,"xTokens":6}]} or {"perSecond":{"720p":5}}.';

/** A rate as JSON: the whole rate, or only the value of its `perImage` (an array) or `perSecond` (an object). */
export const rate = (value: string): Rate => {
  const given = parseJson(value);
  const whole = [given, { perImage: given }, { perSecond: given }];
  const found = whole.map((candidate) => Rate.safeParse(candidate)).find(({ success }) => success);
  if (!found?.data) throw new InvalidArgumentError(RATE_FORMS);
  return found.data;
};

const parseJson = (value: string): unknown => {
  try {
    return JSON.parse(value);
  } catch (error) {
    if (error instanceof SyntaxError) throw new InvalidArgumentError(RATE_FORMS);
    throw error;
  }
};

/** Comma-separated names, each one of `known`; repeats are dropped. */
export const namesAmong =
  <Name extends string>(known: readonly Name[]) =>
  (value: string): Name[] => {
    const given = new Set(value.split(',').map((name) => name.trim()));
    return [...given].map((name) => {
      const found = known.find((candidate) => candidate === name);
      if (found !== undefined) return found;
      throw new InvalidArgumentError(`There is no "${name}": choose among ${known.join(', ')}.`);
    });
  };

/** The ids of all models. */
export const MODEL_IDS: readonly string[] = CATALOG.map(({ id }) => id);
