/** RFC 3339 as ASL takes it: with `T`, and `Z` or an offset. https://states-language.net/spec.html#timestamps */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** The instant of a timestamp, in epoch milliseconds; undefined for anything else. */
export const instantOf = (timestamp: unknown): number | undefined => {
  if (typeof timestamp !== 'string' || !TIMESTAMP.test(timestamp)) return undefined;
  const instant = Date.parse(timestamp);
  return Number.isNaN(instant) ? undefined : instant;
};
