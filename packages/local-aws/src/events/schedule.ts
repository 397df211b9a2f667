const UNIT_MILLISECONDS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** The longest timer of Node.js is 24.8 days. A longer one would fire at once. */
const MAX_DAYS = 24;

/** The milliseconds between two times of a `ScheduleExpression` such as `rate(5 minutes)`. Throws when it is invalid, and for `cron`, which is not supported. */
export const readSchedule = (expression: string): { everyMilliseconds: number } => {
  const [, count, unit, plural] = /^rate\(([1-9]\d*) (minute|hour|day)(s?)\)$/.exec(expression) ?? [];
  if (count === undefined || (count === '1') !== (plural === '')) {
    throw new Error(`${expression} is not a rate; the local run knows no other schedule`);
  }
  const everyMilliseconds = Number(count) * UNIT_MILLISECONDS[unit as keyof typeof UNIT_MILLISECONDS];
  if (everyMilliseconds > MAX_DAYS * UNIT_MILLISECONDS.day)
    throw new Error(`${expression} is longer than ${MAX_DAYS} days; the local run knows no such schedule`);
  return { everyMilliseconds };
};
