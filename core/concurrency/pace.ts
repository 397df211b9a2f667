/** A call that waits for its turn. */
interface Waiting {
  rank: number;
  begin: () => void;
}

/** Limits calls: how many are under way at once, and how long after one the next may start. The lowest rank goes first. */
export class Pace {
  private readonly atOnce: number;
  private readonly intervalMs: number;
  private readonly now: () => number;
  private readonly waiting: Waiting[] = [];
  private underWay = 0;
  private nextStartMs = 0;
  private isPausing = false;

  constructor(atOnce: number, intervalMs: number, now: () => number) {
    this.atOnce = atOnce;
    this.intervalMs = intervalMs;
    this.now = now;
  }

  /** Makes a call when its turn comes: by rank, and by arrival among equals. */
  async during<T>(call: () => Promise<T>, rank = 0): Promise<T> {
    await new Promise<void>((begin) => {
      this.waiting.push({ rank, begin });
      this.startNext();
    });
    try {
      return await call();
    } finally {
      this.underWay--;
      this.startNext();
    }
  }

  private startNext(): void {
    while (this.waiting.length > 0 && this.underWay < this.atOnce && !this.isPausing) {
      const waitMs = this.nextStartMs - this.now();
      if (waitMs > 0) {
        this.pause(waitMs);
        return;
      }
      const ranks = this.waiting.map(({ rank }) => rank);
      const [next] = this.waiting.splice(ranks.indexOf(Math.min(...ranks)), 1);
      this.underWay++;
      this.nextStartMs = this.now() + this.intervalMs;
      next?.begin();
    }
  }

  private pause(milliseconds: number): void {
    this.isPausing = true;
    setTimeout(() => {
      this.isPausing = false;
      this.startNext();
    }, milliseconds);
  }
}
