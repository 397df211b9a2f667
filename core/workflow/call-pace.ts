import { setTimeout as pause } from 'node:timers/promises';

/** How the calls of one run are spaced: this many at once, and this long between two starts. */
export class Pace {
  private readonly intervalMs: number;
  private free: number;
  private readonly waiting: (() => void)[] = [];
  private begun = 0;
  private readonly now: () => number;
  private readonly startedMs: number;

  constructor(atOnce: number, intervalMs: number, now: () => number) {
    this.free = atOnce;
    this.intervalMs = intervalMs;
    this.now = now;
    this.startedMs = now();
  }

  /** Makes a call when its turn comes, in the order in which they ask. */
  async during<T>(call: () => Promise<T>): Promise<T> {
    const startMs = this.startedMs + this.begun++ * this.intervalMs;
    await this.enter();
    try {
      const waitMs = startMs - this.now();
      if (waitMs > 0) await pause(waitMs);
      return await call();
    } finally {
      this.leave();
    }
  }

  private async enter(): Promise<void> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private leave(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.free++;
  }
}
