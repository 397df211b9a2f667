import { type Instant, toInstant } from '../core/time.ts';
import type { SpanKind, StorySpan } from './story-span.ts';

/** Spans in which nothing of the request is at work: they may take hours, and are drawn short. */
const IDLE: ReadonlySet<SpanKind> = new Set(['webhook-pause', 'available', 'removal', 'deadline']);

/** Most of the axis that one idle stretch takes, as a share of all work. */
const IDLE_SHARE = 0.08;

/** Where an instant lies on an axis, from 0 to 1. */
export type TimeAxis = (instant: Instant) => number;

/** When a span ends, as far as it is known at `now`. */
export const endOfSpan = ({ until }: Pick<StorySpan, 'until'>, now: Date): Instant => until ?? toInstant(now);

/**
 * An axis from the begin of the first span to the end of the last. Work is to scale; each idle stretch between two
 * events takes its own time or 8 % of all work, whichever is less. Without any work all stretches are equally long.
 */
export const timeAxis = (spans: readonly StorySpan[], now: Date): TimeAxis => {
  const instants = [...new Set(spans.flatMap((span) => [span.from, endOfSpan(span, now)]))].sort();
  const stretches = instants.slice(1).map((to, index) => {
    const from = instants[index] ?? to;
    const isIdle = spans
      .filter((span) => span.from <= from && endOfSpan(span, now) >= to)
      .every(({ kind }) => IDLE.has(kind));
    return { from: Date.parse(from), milliseconds: Date.parse(to) - Date.parse(from), isIdle };
  });
  const work = stretches.reduce((sum, { milliseconds, isIdle }) => sum + (isIdle ? 0 : milliseconds), 0);
  let position = 0;
  const drawn = stretches.map((stretch) => {
    const { milliseconds, isIdle } = stretch;
    const idle = work === 0 ? 1 : Math.min(milliseconds, work * IDLE_SHARE);
    const part = { ...stretch, position, length: isIdle ? idle : milliseconds };
    position += part.length;
    return part;
  });
  const all = position || 1;
  return (instant) => {
    const time = Date.parse(instant);
    const {
      from,
      milliseconds,
      position: start,
      length,
    } = drawn.findLast((stretch) => stretch.from <= time) ?? EMPTY;
    return Math.min(1, (start + length * Math.min(1, Math.max(0, (time - from) / milliseconds))) / all);
  };
};

const EMPTY = { from: 0, milliseconds: Number.POSITIVE_INFINITY, position: 0, length: 0 };
