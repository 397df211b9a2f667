import type { Clock } from '../../../core/clock.ts';

/** The instant at which most tests happen. */
export const NOW = new Date('2026-11-20T09:00:00.000Z');

/** `seconds` after `NOW`, or before when negative. */
export const atSeconds = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);

/** A clock that stands still until it is told otherwise. */
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

/** A clock that moves by some milliseconds each time it is read, as a real one does between two steps. */
export const tickingClock = (millisecondsPerReading: number, start: Date = NOW): Clock => {
  let reading = 0;
  return { now: () => new Date(start.getTime() + millisecondsPerReading * reading++) };
};
