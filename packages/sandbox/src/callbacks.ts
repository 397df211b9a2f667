import { setTimeout as wait } from 'node:timers/promises';
import type { Directives } from './directives.ts';
import { isObject } from './http.ts';
import type { CallbackAttempt, TaskJournal } from './task-journal.ts';

/** When callbacks are sent. Tests shorten these times. */
export type CallbackTiming = {
  /** An attempt without a 2xx within this time is repeated. ModelArk: 5 s. */
  acknowledgeMilliseconds: number;
  /** Delay of the last callback under `[callback=late]`, from the end of the task. */
  lateMilliseconds: number;
};

const UPSTREAM_TIMING: CallbackTiming = { acknowledgeMilliseconds: 5_000, lateMilliseconds: 8_000 };

/** ModelArk makes up to three attempts. */
const ATTEMPTS = 3;

/** Timers may fire slightly early. A callback must not arrive before a query would return the same status. */
const TIMER_SLACK_MILLISECONDS = 2;

/** A task that has a callback URL. */
export type CallbackTask = {
  id: string;
  url: string;
  mode: Directives['callback'];
  /** When the task changes status: epoch milliseconds, ascending. */
  changesAt: readonly number[];
  /** The answer to a query at that instant (epoch milliseconds); undefined when the upstream has no such task. */
  query: (instant: number) => { status: string } | undefined;
  /** Headers of a callback, given its body as it is sent: a signature. Default: none. */
  headersOf?: (body: string) => Record<string, string>;
};

/** Sends the callbacks of tasks. */
export type Callbacks = {
  /** Schedules a POST of the task object for each status change, as the task's mode says. Returns at once. */
  schedule(task: CallbackTask): void;
  /** Aborts all callbacks, in flight or scheduled. */
  close(): void;
};

/** The code of the error's cause, such as `ECONNREFUSED`, or else the error's name, such as `TimeoutError`. */
const nameOf = (error: unknown): string => {
  const { name, cause } = isObject(error) ? error : {};
  return String((isObject(cause) ? cause.code : undefined) ?? name ?? error);
};

/** What `createCallbacks` works with. */
interface CallbacksOptions {
  journal: TaskJournal;
  now: () => number;
  timing?: Partial<CallbackTiming>;
}

/** The callbacks of `createCallbacks`. */
class SentCallbacks implements Callbacks {
  private readonly options: CallbacksOptions;
  private readonly acknowledgeMilliseconds: number;
  private readonly lateMilliseconds: number;
  private readonly closing = new AbortController();

  constructor(options: CallbacksOptions) {
    this.options = options;
    this.acknowledgeMilliseconds =
      this.options.timing?.acknowledgeMilliseconds ?? UPSTREAM_TIMING.acknowledgeMilliseconds;
    this.lateMilliseconds = this.options.timing?.lateMilliseconds ?? UPSTREAM_TIMING.lateMilliseconds;
  }

  schedule(task: CallbackTask): void {
    if (task.mode === 'off') return;
    for (const [index, changesAt] of task.changesAt.entries()) {
      this.announce(task, changesAt, index === task.changesAt.length - 1).catch((error) => {
        if (!this.closing.signal.aborted) console.error('sandbox: a callback failed unexpectedly', error);
      });
    }
  }

  close(): void {
    this.closing.abort();
  }

  private waitUntil(instant: number) {
    return wait(Math.max(0, instant - this.options.now()), undefined, {
      signal: this.closing.signal,
      ref: false,
    });
  }

  private async post(
    { url, headersOf = () => ({}) }: CallbackTask,
    body: string,
  ): Promise<CallbackAttempt['answer']> {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headersOf(body) },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([this.closing.signal, AbortSignal.timeout(this.acknowledgeMilliseconds)]),
      });
      await response.body?.cancel();
      return response.status;
    } catch (error) {
      this.closing.signal.throwIfAborted();
      return nameOf(error);
    }
  }

  private async deliver(called: CallbackTask, task: { status: string }) {
    const { id } = called;
    const body = JSON.stringify(task);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const startedAt = this.options.now();
      const answer = await this.post(called, body);
      this.options.journal.addCallback(id, {
        status: task.status,
        attempt,
        sentAt: new Date(startedAt).toISOString(),
        answer,
      });
      if (typeof answer === 'number' && answer >= 200 && answer < 300) return;
      if (attempt < ATTEMPTS) await this.waitUntil(startedAt + this.acknowledgeMilliseconds);
    }
  }

  private async announce(task: CallbackTask, changesAt: number, isLast: boolean) {
    const delayMilliseconds = isLast && task.mode === 'late' ? this.lateMilliseconds : 0;
    await this.waitUntil(changesAt + delayMilliseconds + TIMER_SLACK_MILLISECONDS);
    const body = task.query(changesAt);
    if (!body) return;
    const copies = task.mode === 'twice' ? 2 : 1;
    await Promise.all(Array.from({ length: copies }, () => this.deliver(task, body)));
  }
}

/**
 * Sends callbacks and records every attempt in the journal. An attempt without a 2xx is repeated with the same body
 * 5 s after it began, up to three attempts. Callbacks of different statuses are independent of each other.
 */
export const createCallbacks = (options: CallbacksOptions): Callbacks => new SentCallbacks(options);
