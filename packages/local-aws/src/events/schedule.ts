import type { Schedule } from '../types.ts';

const UNIT_MILLISECONDS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

/** A field of a cron expression: its bounds, and names for its values, starting at the lower bound. */
interface Field {
  name: string;
  from: number;
  to: number;
  names?: string[];
}

/** The fields, in order: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html */
const FIELDS = [
  { name: 'minutes', from: 0, to: 59 },
  { name: 'hours', from: 0, to: 23 },
  { name: 'day of month', from: 1, to: 31 },
  { name: 'month', from: 1, to: 12, names: MONTHS },
  { name: 'day of week', from: 1, to: 7, names: WEEKDAYS },
  { name: 'year', from: 1970, to: 2199 },
] as const satisfies Field[];

const isAny = (text: string) => text === '*' || text === '?';

const numberIn = (text: string, { name, from, to, names = [] }: Field): number => {
  const named = names.indexOf(text.toUpperCase());
  const value = named >= 0 ? from + named : Number(text);
  if (!/^\w+$/.test(text) || !Number.isInteger(value) || value < from || value > to) {
    throw new Error(`${name} of a cron expression cannot be ${text} in the local run`);
  }
  return value;
};

/** The values of one part of a field's list: `5`, `1-5`, `0/15`, `1-5/2`, `*`. */
const valuesOfPart = (part: string, field: Field): number[] => {
  const [range = '', step] = part.split('/');
  const [first = '', last] = range.split('-');
  const start = isAny(range) ? field.from : numberIn(first, field);
  const end =
    last !== undefined ? numberIn(last, field) : isAny(range) || step !== undefined ? field.to : start;
  const by = step === undefined ? 1 : Number(step);
  if (!Number.isInteger(by) || by < 1 || end < start) {
    throw new Error(`${field.name} of a cron expression cannot be ${part} in the local run`);
  }
  return Array.from({ length: Math.floor((end - start) / by) + 1 }, (_, at) => start + at * by);
};

/** The allowed values of each field. Throws, naming the field, for an invalid value, and for `L`, `W` and `#`, which are not supported. */
const readCron = (text: string): Set<number>[] => {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== FIELDS.length) throw new Error(`cron(${text}) does not have six fields`);
  if ((parts[2] === '?') === (parts[4] === '?')) {
    throw new Error(`cron(${text}) needs ? as its day of month or as its day of week, and not as both`);
  }
  return FIELDS.map(
    (field, at) => new Set((parts[at] ?? '').split(',').flatMap((part) => valuesOfPart(part, field))),
  );
};

/** Reads a `ScheduleExpression`. Throws when it is invalid or not supported. */
export const readSchedule = (expression: string): Schedule => {
  const [, count, unit, plural] = /^rate\(([1-9]\d*) (minute|hour|day)(s?)\)$/.exec(expression) ?? [];
  if (count !== undefined && (count === '1') === (plural === '')) {
    return { everyMilliseconds: Number(count) * UNIT_MILLISECONDS[unit as keyof typeof UNIT_MILLISECONDS] };
  }
  const cron = /^cron\((.*)\)$/.exec(expression)?.[1];
  if (cron === undefined) throw new Error(`${expression} is not a schedule`);
  readCron(cron);
  return { cron };
};

/** The longest gap between two dates: 29 February across a century year that is not a leap year. */
const MAX_DAYS_AHEAD = 366 * 8 + 1;

/** The first minute after `after` that a cron expression names in UTC (epoch milliseconds); undefined when none comes within eight years. */
export const nextCronTime = (cron: string, after: number): number | undefined => {
  const [minutes, hours, days, months, weekdays, years] = readCron(cron) as [
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
  ];
  const first = (Math.floor(after / UNIT_MILLISECONDS.minute) + 1) * UNIT_MILLISECONDS.minute;
  const firstDay = Math.floor(first / UNIT_MILLISECONDS.day) * UNIT_MILLISECONDS.day;
  for (let ahead = 0; ahead < MAX_DAYS_AHEAD; ahead += 1) {
    const day = firstDay + ahead * UNIT_MILLISECONDS.day;
    const date = new Date(day);
    const isDay =
      days.has(date.getUTCDate()) &&
      months.has(date.getUTCMonth() + 1) &&
      weekdays.has(date.getUTCDay() + 1) &&
      years.has(date.getUTCFullYear());
    if (!isDay) continue;
    for (const hour of [...hours].toSorted((one, other) => one - other)) {
      for (const minute of [...minutes].toSorted((one, other) => one - other)) {
        const time = day + hour * UNIT_MILLISECONDS.hour + minute * UNIT_MILLISECONDS.minute;
        if (time >= first) return time;
      }
    }
  }
  return undefined;
};
