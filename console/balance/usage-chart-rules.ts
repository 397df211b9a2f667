import { type Axes, axesOf } from './chart-rules.ts';

const DAY = 86_400_000;

/** The last days up to today, in UTC, as `GET /v1/usage` takes them. */
export const lastDays = (now: Date, days: number): { from: string; to: string } => {
  const dateAfter = (milliseconds: number): string =>
    new Date(now.getTime() + milliseconds).toISOString().slice(0, 10);
  return { from: dateAfter((1 - days) * DAY), to: dateAfter(DAY) };
};

/** The spending of each day of a range, in xTokens: 0 for a day without an item. */
export const spentByDay = (
  { from, to }: { from: string; to: string },
  items: readonly { day?: string; xTokens: number }[],
): number[] => {
  const byDay = new Map(items.map(({ day, xTokens }) => [day, xTokens]));
  const days = (Date.parse(to) - Date.parse(from)) / DAY;
  return Array.from(
    { length: days },
    (_, index) => byDay.get(new Date(Date.parse(from) + index * DAY).toISOString().slice(0, 10)) ?? 0,
  );
};

/** The axes of such a range: from 0, or below where more was refunded than spent. */
export const usageAxes = ({ from, to }: { from: string; to: string }, spent: readonly number[]): Axes =>
  axesOf(
    spent.map((xTokens) => ({ at: from, xTokens })),
    new Date(to),
  );

/** The part of a day's width that its bar fills. */
const FILLED = 0.7;

/** A bar for each day, from the line of 0, as a path within the axes. */
export const barPath = (
  spent: readonly number[],
  { least, most }: Axes,
  width: number,
  height: number,
): string => {
  const round = (value: number): number => Math.round(value * 10) / 10;
  const y = (xTokens: number): number => round(height - ((xTokens - least) / (most - least)) * height);
  const x = (day: number): number => round((day / spent.length) * width);
  const gap = (1 - FILLED) / 2;
  return spent
    .map((xTokens, day) =>
      xTokens === 0 ? '' : `M${x(day + gap)},${y(0)}V${y(xTokens)}H${x(day + 1 - gap)}V${y(0)}Z`,
    )
    .join('');
};
