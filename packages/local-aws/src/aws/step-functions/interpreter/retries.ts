import { matchesError } from './errors.ts';

/** An entry of `Retry`. */
export interface Retrier {
  ErrorEquals: string[];
  IntervalSeconds?: number;
  BackoffRate?: number;
  MaxDelaySeconds?: number;
  MaxAttempts?: number;
  JitterStrategy?: string;
}

/** The retries of one visit to a state. Each retrier counts its own. */
export class Retries {
  private readonly made = new Map<Retrier, number>();
  private readonly retriers: readonly Retrier[];

  constructor(retriers: readonly Retrier[] = []) {
    this.retriers = retriers;
  }

  /** All of them together. */
  get count(): number {
    let sum = 0;
    for (const times of this.made.values()) sum += times;
    return sum;
  }

  /** Counts a retry after an error and returns the pause before it, in seconds; undefined when there is none left. */
  next(error: string, random: () => number): number | undefined {
    const retrier = this.retriers.find(({ ErrorEquals }) => matchesError(ErrorEquals, error));
    if (!retrier) return undefined;
    const { IntervalSeconds = 1, BackoffRate = 2, MaxDelaySeconds = Number.POSITIVE_INFINITY } = retrier;
    const made = this.made.get(retrier) ?? 0;
    if (made >= (retrier.MaxAttempts ?? 3)) return undefined;
    this.made.set(retrier, made + 1);
    const seconds = Math.min(MaxDelaySeconds, IntervalSeconds * BackoffRate ** made);
    return retrier.JitterStrategy === 'FULL' ? seconds * random() : seconds;
  }
}
