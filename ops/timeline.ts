import { type Instant, toInstant } from '../core/time.ts';
import type { StorySpan } from './story-span.ts';
import { cut, pad, printable, widthOf } from './terminal-text.ts';
import { endOfSpan, timeAxis } from './time-axis.ts';

/** Width of what is not printed to a terminal. */
const DEFAULT_COLUMNS = 120;
/** Fewest columns of the bars; a terminal that is narrower shows none. */
const MIN_BAR_COLUMNS = 12;
const MAX_BAR_COLUMNS = 60;
/** Fewest columns left beside the bars for the label of a span. */
const MIN_WHAT_COLUMNS = 12;

/**
 * Formats spans, one line each: start (UTC), offset from the first span, duration, label, outcome, and a bar.
 * Idle time is drawn short. A bar's dotted part is planned; `…` marks a span that goes on.
 */
export const formatTimeline = (
  spans: readonly StorySpan[],
  now: Date,
  columns: number = DEFAULT_COLUMNS,
): string => {
  const [first] = spans;
  if (!first) return '';
  const rows = spans.map((span) => [
    span.from.slice(11, 19),
    formatSeconds(secondsBetween(first.from, span.from)),
    formatSeconds(secondsBetween(span.from, endOfSpan(span, now))) + (span.until === null ? '…' : ''),
    span.outcome === undefined ? span.label : `${span.label}: ${span.outcome}`,
  ]);
  const head = [`${first.from.slice(0, 10)}`, 'AFTER', 'TAKES', 'WHAT'];
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => widthOf(row[column] ?? ''))));
  const [timeWidth = 0, afterWidth = 0, takesWidth = 0, wantedWidth = 0] = widths;
  const left = columns - timeWidth - afterWidth - takesWidth - 6;
  const barWidth = Math.min(MAX_BAR_COLUMNS, Math.max(MIN_BAR_COLUMNS, left - wantedWidth - 2));
  const hasBars = left - barWidth - 2 >= Math.min(wantedWidth, MIN_WHAT_COLUMNS);
  const whatWidth = Math.max(1, Math.min(wantedWidth, hasBars ? left - barWidth - 2 : left));
  const axis = timeAxis(spans, now);
  return all
    .map(([time = '', after = '', takes = '', what = ''], index) => {
      const span = spans[index - 1];
      return [
        pad(time, timeWidth, false),
        pad(after, afterWidth, true),
        pad(takes, takesWidth, true),
        pad(cut(what, whatWidth), whatWidth, false),
        ...(span && hasBars ? [drawBar(span, axis, now, barWidth)] : []),
      ]
        .join('  ')
        .trimEnd();
    })
    .join('\n');
};

/** A span as one line of a log: begin, duration if its end is known, label, outcome and detail. */
export const formatSpan = ({ from, until, label, outcome, detail }: StorySpan): string => {
  const takes = until === null ? '…' : ` (${formatSeconds(secondsBetween(from, until))})`;
  const ended = [outcome, detail].filter((part) => part !== undefined).join(', ');
  return printable(`${from} ${label}${takes}${ended === '' ? '' : `: ${ended}`}`);
};

/** A bar of at least one column, at its place. */
const drawBar = (span: StorySpan, axis: (instant: Instant) => number, now: Date, width: number): string => {
  const end = endOfSpan(span, now);
  const today = toInstant(now);
  const start = Math.min(width - 1, Math.floor(axis(span.from) * width));
  const stop = Math.max(start + 1, Math.round(axis(end) * width));
  const past = end <= today ? stop : Math.min(stop, Math.max(start, Math.round(axis(today) * width)));
  return ' '.repeat(start) + '█'.repeat(past - start) + '·'.repeat(stop - past);
};

const secondsBetween = (from: Instant, to: Instant): number => (Date.parse(to) - Date.parse(from)) / 1000;

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
] as const;

/** A duration in at most two units: `0.2s`, `12s`, `4m10s`, `23h`, `3d4h`. */
export const formatSeconds = (seconds: number): string => {
  const unsigned = Math.max(0, seconds);
  if (unsigned < 9.95) return `${unsigned.toFixed(1)}s`;
  const whole = Math.round(unsigned);
  const at = UNITS.findIndex(([, size]) => whole >= size);
  const [unit, size] = UNITS[at] ?? ['s', 1];
  if (unit === 's') return `${whole}s`;
  const [smaller, smallerSize] = UNITS[at + 1] ?? ['s', 1];
  const rest = Math.floor((whole % size) / smallerSize);
  return `${Math.floor(whole / size)}${unit}${rest === 0 ? '' : `${rest}${smaller}`}`;
};
