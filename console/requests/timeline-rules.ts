/** A stretch of time. `until` is null while it goes on. */
export interface Stretch {
  from: string;
  until: string | null;
}

/** Where something is, in percent of the width. */
interface Placement {
  left: number;
  width: number;
}

/** A time line: a bar for each stretch, and the breaks cut out of it. */
export interface TimelineLayout {
  bars: Placement[];
  /** Long stretches in which nothing begins or ends, each drawn at the same small width. */
  breaks: (Placement & { milliseconds: number })[];
  /** The milliseconds that are drawn to scale. */
  scaledMilliseconds: number;
}

/**
 * An idle interval is cut when it lasts at least as long as this, and longer than `BREAK_FACTOR` times the sum of all
 * shorter intervals.
 */
const SHORTEST_BREAK_MILLISECONDS = 30_000;
const BREAK_FACTOR = 3;
/** The share of a break in the width, in percent: some 48 px of a page. All together have at most half. */
const BREAK_PERCENT = 7;
const ALL_BREAKS_PERCENT = 50;

/**
 * Lays out stretches on one scale, on which idle time is cut out: ten seconds of work would be a dot beside webhook attempts over
 * days. `now` ends what goes on.
 */
export const layOut = (stretches: readonly Stretch[], now: Date): TimelineLayout => {
  const times = stretches.map(({ from, until }) => {
    const start = Date.parse(from);
    return [start, Math.max(start, until === null ? now.getTime() : Date.parse(until))] as const;
  });
  const points = [...new Set(times.flat())].sort((a, b) => a - b);
  const lengths = points.slice(1).map((point, index) => point - (points[index] ?? point));
  const longest = longestToScale(lengths);
  const cuts = lengths.filter((length) => length > longest).length;
  const scaledMilliseconds = lengths.filter((length) => length <= longest).reduce((sum, one) => sum + one, 0);
  const breakPercent = cuts === 0 ? 0 : Math.min(BREAK_PERCENT, ALL_BREAKS_PERCENT / cuts);
  const forScale = 100 - cuts * breakPercent;

  const places = new Map<number, number>();
  const breaks: TimelineLayout['breaks'] = [];
  let left = 0;
  for (const [index, point] of points.entries()) {
    places.set(point, left);
    const length = lengths[index];
    if (length === undefined) break;
    const isCut = length > longest;
    const width = isCut ? breakPercent : (length / (scaledMilliseconds || 1)) * forScale;
    if (isCut) breaks.push({ left, width, milliseconds: length });
    left += width;
  }
  const bars = times.map(([start, end]) => {
    const at = places.get(start) ?? 0;
    return { left: at, width: (places.get(end) ?? at) - at };
  });
  return { bars, breaks, scaledMilliseconds };
};

/** The length up to which intervals are drawn to scale. */
const longestToScale = (lengths: readonly number[]): number => {
  let [longest, sum] = [0, 0];
  for (const length of lengths.toSorted((a, b) => a - b)) {
    if (sum > 0 && length > SHORTEST_BREAK_MILLISECONDS && length > BREAK_FACTOR * sum) break;
    longest = length;
    sum += length;
  }
  return longest;
};
