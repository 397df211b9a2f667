import { type BusyCalls, createBusyCalls } from './busy-calls.ts';
import { createCallCounter } from './call-counter.ts';
import type { Directives } from './directives.ts';

/** What an upstream lets an account do at once, for each model. */
export type Capacity = {
  /** Tasks that run at once; others wait in its queue, or are refused. Default: any number. */
  runningTasks?: number;
  /** Synchronous calls that run at once; others are refused with 429, as such a call has no queue. Default: any number. */
  runningCalls?: number;
  /** Creations a second; others are refused with 429. Default: any number. */
  createsPerSecond?: number;
  /** Model Studio's queries, lists and cancels of tasks a second, together; others are refused with 429. Default: 20. */
  taskCallsPerSecond?: number | undefined;
  /** What becomes of a task beyond `runningTasks`: both are seen of real upstreams. Default `queue`. */
  whenFull?: 'queue' | 'refuse';
};

/**
 * A capacity of `maxRunning` calls and as many tasks of a model at once. Upstreams refuse further calls, each with
 * its own error code.
 */
export const capacityOf = (maxRunning: number) =>
  ({ runningTasks: maxRunning, runningCalls: maxRunning, whenFull: 'refuse' }) as const satisfies Capacity;

/** Wan 2.7 and 3.0: "5 creates/s and 5 running tasks per account and model" (Model Studio, rate limits). */
export const WAN_CAPACITY = { runningTasks: 5, createsPerSecond: 5 } as const satisfies Capacity;

/** Seedance 2.x of a company: 600 creations a minute and 10 running tasks (ModelArk, video generation). */
export const SEEDANCE_CAPACITY = { runningTasks: 10, createsPerSecond: 10 } as const satisfies Capacity;

/** A call that creates something. */
export type Creation = { model: string; prompt: string; directives: Directives };

/** Why a creation is refused, to be sent with the upstream's own code, and its `Retry-After`. */
export type Refusal = {
  /** Too many a second, too many at once, or an overload of the upstream. */
  reason: 'rate' | 'running' | 'overload';
  retryAfterSeconds?: number | undefined;
};

/** Refuses creations beyond an upstream's capacity. */
export type CreationLimiter = {
  /** Counts a creation, and says why it is refused: by the rate of its model, or by its directives. */
  refusalOf(creation: Creation): Refusal | undefined;
  /** Counts a synchronous call until it settles. Throws what `refuse` makes of a refusal when too many are under way. */
  during<Answer>(
    creation: Creation,
    refuse: (refusal: Refusal) => Error,
    call: () => Promise<Answer>,
  ): Promise<Answer>;
};

/** Rates count the creations of this long. */
const RATE_MILLISECONDS = 1_000;

/** What `[busy-for=…]` says when the prompt names no other `Retry-After`. */
const BUSY_RETRY_AFTER_SECONDS = 1;

/** The limiter of `createCreationLimiter`. */
class Limiter implements CreationLimiter {
  private readonly now: () => number;
  private readonly options: Capacity;
  private readonly creations = new Map<string, number[]>();
  private readonly busySince = new Map<string, number>();
  private readonly underWay = new Map<string, number>();
  private readonly earlierCalls = createCallCounter();
  private readonly busy: BusyCalls;

  constructor(now: () => number, options: Capacity = {}) {
    this.now = now;
    this.options = options;
    this.busy = createBusyCalls(this.now);
  }

  refusalOf({ model, prompt, directives }: Creation): Refusal | undefined {
    const key = `${model}\n${prompt}`;
    const { busyCalls, busySeconds, flakyCalls, retryAfterSeconds } = directives;
    const waitMilliseconds = Math.max(
      this.waitOf(model, this.options.createsPerSecond),
      this.waitOf(key, directives.createsPerSecond),
    );
    if (waitMilliseconds > 0) {
      return { reason: 'rate', retryAfterSeconds: retryAfterSeconds ?? Math.ceil(waitMilliseconds / 1000) };
    }
    if (this.isBusy(key, busySeconds)) {
      return { reason: 'rate', retryAfterSeconds: retryAfterSeconds ?? BUSY_RETRY_AFTER_SECONDS };
    }
    if (this.busy.isRefused(key, busyCalls)) return { reason: 'rate', retryAfterSeconds };
    const isFlaky = flakyCalls > 0 && this.earlierCalls.next(key) < flakyCalls;
    return isFlaky ? { reason: 'overload', retryAfterSeconds } : undefined;
  }

  async during<Answer>(
    { model, prompt, directives }: Creation,
    refuse: (refusal: Refusal) => Error,
    call: () => Promise<Answer>,
  ): Promise<Answer> {
    const keys = [model, `${model}\n${prompt}`];
    const limits = [this.options.runningCalls, directives.runningCalls];
    if (keys.some((key, index) => this.isFull(key, limits[index]))) {
      throw refuse({ reason: 'running', retryAfterSeconds: directives.retryAfterSeconds });
    }
    for (const key of keys) this.count(key, 1);
    try {
      return await call();
    } finally {
      for (const key of keys) this.count(key, -1);
    }
  }

  /** Counts a creation with this key and returns 0, or returns the milliseconds until another creation is allowed. */
  private waitOf(key: string, perSecond: number | undefined): number {
    if (perSecond === undefined) return 0;
    const recent = (this.creations.get(key) ?? []).filter((at) => at > this.now() - RATE_MILLISECONDS);
    const isTooMany = recent.length >= perSecond;
    this.creations.set(key, isTooMany ? recent : [...recent, this.now()]);
    return isTooMany ? (recent.at(-perSecond) ?? 0) + RATE_MILLISECONDS - this.now() : 0;
  }

  private isBusy(key: string, seconds: number): boolean {
    if (seconds === 0) return false;
    const since = this.busySince.get(key) ?? this.now();
    this.busySince.set(key, since);
    return this.now() < since + seconds * 1000;
  }

  private isFull(key: string, most = Number.POSITIVE_INFINITY): boolean {
    return (this.underWay.get(key) ?? 0) >= most;
  }

  private count(key: string, change: number) {
    const counted = (this.underWay.get(key) ?? 0) + change;
    if (counted > 0) this.underWay.set(key, counted);
    else this.underWay.delete(key);
  }
}

/** Creates the limiter of an upstream. `now` returns epoch milliseconds. Keeps the creations of the last second, and each busy prompt. */
export const createCreationLimiter = (now: () => number, options: Capacity = {}): CreationLimiter =>
  new Limiter(now, options);
