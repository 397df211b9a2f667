/** An instant in the API and the table: ISO 8601 UTC with milliseconds, so text order is time order. */
export type Instant = string;

/** A date as an instant. Throws `RangeError` for an invalid date. */
export const toInstant = (date: Date): Instant => date.toISOString();

/** The instant `seconds` after another; a negative number goes back. */
export const addSeconds = (instant: Instant, seconds: number): Instant =>
  new Date(Date.parse(instant) + seconds * 1000).toISOString();

/** An ISO 8601 date, or date-time with a time zone; seconds and fraction are optional. */
const ISO_8601 =
  /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2})(?::(\d{2})(?:\.(\d+))?)?(?:Z|([+-])([01]\d|2[0-3]):?([0-5]\d)))?$/;

/**
 * The instant of an ISO 8601 date (midnight UTC) or date-time with `Z` or an offset (`+02:00`, `+0200`), rounded down to
 * the millisecond. Undefined for any other text, and for a time that does not exist.
 */
export const parseIso8601 = (text: string): Instant | undefined => {
  const [, date, time = '00:00', seconds = '00', fraction = '', sign = '+', hours = '0', minutes = '0'] =
    ISO_8601.exec(text) ?? [];
  if (date === undefined) return undefined;
  const local = `${date}T${time}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
  const localMs = Date.parse(local);
  // A date like 30 February is read as one in March.
  if (Number.isNaN(localMs) || new Date(localMs).toISOString() !== local) return undefined;
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return toInstant(new Date(sign === '+' ? localMs - offsetMs : localMs + offsetMs));
};

export const later = (one: Instant, other: Instant): Instant => (one > other ? one : other);

/** Whole epoch seconds of an instant, rounded down. */
export const toEpochSeconds = (instant: Instant): number => Math.floor(Date.parse(instant) / 1000);

/** Seconds since an instant; 0 when it is to come, when there is none, and when the text is no instant. */
export const secondsSince = (instant: Instant | undefined, now: Date): number =>
  Math.max(0, (now.getTime() - Date.parse(instant ?? '')) / 1000) || 0;

export const SECONDS_PER_DAY = 86_400;

/** Largest difference between the clocks of two functions. AWS keeps those of Lambda within milliseconds. */
export const CLOCK_SKEW_MS = 2_000;

/**
 * The latest instant, in epoch milliseconds, that a right clock can have set for something that lasts `longestMs` at most. A
 * stored "until" beyond this instant was set by a clock that ran ahead, and counts as past: otherwise it would last as long as
 * the clock was wrong.
 */
export const latestEndMs = (now: Date, longestMs: number): number =>
  now.getTime() + longestMs + CLOCK_SKEW_MS;

/** The time, and the passing of it. */
export interface WaitingClock extends Clock {
  sleep(milliseconds: number): Promise<void>;
}

/** The source of the time, passed as an argument so that tests can set it. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
