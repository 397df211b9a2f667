/** An instant in the API and the table: ISO 8601 UTC with milliseconds, so text order is time order. */
export type Instant = string;

/** A date as an instant. */
export const toInstant = (date: Date): Instant => date.toISOString();

/** The instant `seconds` after another; a negative number goes back. */
export const addSeconds = (instant: Instant, seconds: number): Instant =>
  new Date(Date.parse(instant) + seconds * 1000).toISOString();

/** The later of two instants. */
export const later = (one: Instant, other: Instant): Instant => (one > other ? one : other);

/** Whole epoch seconds of an instant, rounded down. */
export const toEpochSeconds = (instant: Instant): number => Math.floor(Date.parse(instant) / 1000);

export const SECONDS_PER_DAY = 86_400;
