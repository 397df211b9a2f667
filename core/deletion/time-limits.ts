import type { Clock } from '../time.ts';

/** How long one call begins and repeats deletions, in milliseconds. */
const BUDGET_MS = 20_000;
/** When one call answers at the latest, deletions under way or not: API functions and API Gateway end soon after. */
const ANSWER_MS = 24_000;

/** The time that one call of the API has to delete things, from `startedAt`. */
export class DeletionTime {
  readonly startedAt: Date;
  private readonly clock: Clock;

  constructor(startedAt: Date, clock: Clock) {
    this.startedAt = startedAt;
    this.clock = clock;
  }

  /** Whether another deletion may begin: for 20 s. */
  hasLeft(): boolean {
    return this.elapsedMs() < BUDGET_MS;
  }

  /**
   * Resolves to the result of the work, or to undefined after 24 s. The work then keeps running, so it must
   * be safe to repeat.
   */
  async answerOf<T>(work: Promise<T>): Promise<T | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const timeUp = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), ANSWER_MS - this.elapsedMs());
    });
    try {
      return await Promise.race([work, timeUp]);
    } finally {
      clearTimeout(timer);
    }
  }

  private elapsedMs(): number {
    return this.clock.now().getTime() - this.startedAt.getTime();
  }
}
