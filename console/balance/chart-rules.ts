/** A balance from an instant on. */
export interface Step {
  at: string;
  xTokens: number;
}

/** The span of a chart: milliseconds since 1970 from left to right, xTokens from bottom to top. */
export interface Axes {
  from: number;
  until: number;
  least: number;
  most: number;
}

/** A mark on an axis, in percent from the left or from the bottom. */
export interface Tick {
  percent: number;
  value: number;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Periods that a chart can show, the last one without a limit. In milliseconds. */
export const PERIODS = {
  '24 hours': DAY,
  '7 days': 7 * DAY,
  '30 days': 30 * DAY,
  all: Number.POSITIVE_INFINITY,
} as const;
/** The name of a period. */
export type Period = keyof typeof PERIODS;

/** The step between marks, 1, 2 or 5 times a power of ten, that divides a range into at most `most` parts. */
const niceStep = (range: number, most: number): number => {
  const power = 10 ** Math.floor(Math.log10(range / most));
  return (([1, 2, 5, 10] as const).find((factor) => factor * power * most >= range) ?? 10) * power;
};

/** Parts that the height is divided into at most. */
const MOST_PARTS = 5;

/**
 * The steps of a period, up to `now`: the first one is the balance at its beginning, or where there is nothing older the first entry. Entries
 * are those of the ledger, oldest first.
 */
export const stepsIn = (
  entries: readonly { createdAt: string; balanceAfter: number }[],
  now: Date,
  period: Period,
): Step[] => {
  const from = now.getTime() - PERIODS[period];
  const steps = entries
    .filter(({ createdAt }) => Date.parse(createdAt) >= from)
    .map(({ createdAt, balanceAfter }) => ({ at: createdAt, xTokens: balanceAfter }));
  const before = entries.findLast(({ createdAt }) => Date.parse(createdAt) < from);
  return before ? [{ at: new Date(from).toISOString(), xTokens: before.balanceAfter }, ...steps] : steps;
};

/** The axes that hold these steps: from 0, or below where a balance is, to a round number above the most. */
export const axesOf = (steps: readonly Step[], now: Date): Axes => {
  const amounts = steps.map(({ xTokens }) => xTokens);
  const [low, high] = [Math.min(0, ...amounts), Math.max(0, ...amounts)];
  const step = niceStep(high - low || 1, MOST_PARTS);
  const until = now.getTime();
  const from = Math.min(until - 1, Date.parse(steps[0]?.at ?? now.toISOString()));
  return {
    from,
    until,
    least: Math.floor(low / step) * step,
    most: low === high ? 1 : Math.ceil(high / step) * step,
  };
};

/** Round amounts along the height. */
export const amountTicks = ({ least, most }: Axes): Tick[] => {
  const step = niceStep(most - least, MOST_PARTS);
  const count = Math.round((most - least) / step);
  return Array.from({ length: count + 1 }, (_, index) => ({
    percent: (index / count) * 100,
    value: Math.round((least + index * step) * 1_000) / 1_000,
  }));
};

/** Instants along the width, in equal parts. */
export const timeTicks = ({ from, until }: Axes, parts: number): Tick[] =>
  Array.from({ length: parts + 1 }, (_, index) => ({
    percent: (index / parts) * 100,
    value: from + ((until - from) * index) / parts,
  }));

/** The steps as a path within the axes, from the left edge to the right one. */
export const stepPath = (
  steps: readonly Step[],
  { from, until, least, most }: Axes,
  width: number,
  height: number,
): string => {
  const [first] = steps;
  if (!first) return '';
  const round = (value: number): number => Math.round(value * 10) / 10;
  const x = (at: string): number => round(((Date.parse(at) - from) / (until - from)) * width);
  const y = (xTokens: number): number => round(height - ((xTokens - least) / (most - least)) * height);
  const lines = steps.slice(1).map(({ at, xTokens }) => `H${x(at)}V${y(xTokens)}`);
  return `M0,${y(first.xTokens)}${lines.join('')}H${width}`;
};
