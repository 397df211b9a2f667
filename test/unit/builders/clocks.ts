import type { Clock } from '../../../core/time.ts';

/** The time of most tests. */
export const NOW = new Date('2026-11-20T09:00:00.000Z');

/** `seconds` after `NOW`, or before when negative. */
export const atSeconds = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);

/** The same as an instant. */
export const at = (seconds: number): string => atSeconds(seconds).toISOString();

/** A clock that only moves when advanced. */
export class StoppedClock implements Clock {
  private current: Date;

  constructor(start: Date = NOW) {
    this.current = start;
  }

  now(): Date {
    return this.current;
  }

  advance(seconds: number): void {
    this.current = new Date(this.current.getTime() + seconds * 1000);
  }
}

/** A clock that stands `seconds` after `NOW`. */
export const clockAt = (seconds: number): StoppedClock => new StoppedClock(atSeconds(seconds));

/** A clock that advances by a fixed number of milliseconds with each reading. */
export const tickingClock = (millisecondsPerReading: number, start: Date = NOW): Clock => {
  let reading = 0;
  return { now: () => new Date(start.getTime() + millisecondsPerReading * reading++) };
};
