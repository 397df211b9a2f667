import { setTimeout as wait } from 'node:timers/promises';
import type { Directives } from './directives.ts';
import { isObject } from './http.ts';
import type { CallbackAttempt, TaskJournal } from './task-journal.ts';

/** How long the deliveries of callbacks take; tests shorten them. */
export type CallbackTiming = {
  /** A delivery without a 2xx within this time is made again. ModelArk: 5 s. */
  acknowledgeMilliseconds: number;
  /** How long after a task's end `[callback=late]` sends the last callback. */
  lateMilliseconds: number;
};

const UPSTREAM_TIMING: CallbackTiming = { acknowledgeMilliseconds: 5_000, lateMilliseconds: 8_000 };

/** ModelArk makes the call up to three times in all. */
const ATTEMPTS = 3;

/** Timers may fire a moment early; a callback must not be sent before a query would say the same. */
const TIMER_SLACK_MILLISECONDS = 2;

/** A task to announce. */
export type FollowedTask = {
  id: string;
  url: string;
  mode: Directives['callback'];
  /** When the task changes its status, in epoch milliseconds and in order. */
  changesAt: readonly number[];
  /** What a query answers at such an instant; undefined once the upstream knows nothing of the task. */
  lookAt: (instant: number) => { status: string } | undefined;
};

export type Callbacks = {
  /** POSTs what a query would answer at each change of a task's status, as its mode says. */
  follow(task: FollowedTask): void;
  /** Gives up every delivery, under way or to come. */
  close(): void;
};

/** The code of what went wrong below, such as `ECONNREFUSED`, else the name of the fault, such as `TimeoutError`. */
const nameOf = (fault: unknown): string => {
  const { name, cause } = isObject(fault) ? fault : {};
  return String((isObject(cause) ? cause.code : undefined) ?? name ?? fault);
};

/**
 * Sends callbacks and notes every attempt in the journal. An attempt that is not answered with a 2xx is followed by the
 * next one 5 s after it began, up to three in all; each sends the same body. Deliveries of different statuses do
 * not wait for each other.
 */
export const createCallbacks = ({
  journal,
  now,
  timing,
}: {
  journal: TaskJournal;
  now: () => number;
  timing?: Partial<CallbackTiming>;
}): Callbacks => {
  const { acknowledgeMilliseconds, lateMilliseconds } = { ...UPSTREAM_TIMING, ...timing };
  const closing = new AbortController();
  const { signal } = closing;
  const waitUntil = (instant: number) =>
    wait(Math.max(0, instant - now()), undefined, { signal, ref: false });

  const post = async (url: string, body: string): Promise<CallbackAttempt['answer']> => {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(acknowledgeMilliseconds)]),
      });
      await response.body?.cancel();
      return response.status;
    } catch (error) {
      signal.throwIfAborted();
      return nameOf(error);
    }
  };

  const deliver = async ({ id, url }: FollowedTask, task: { status: string }) => {
    const body = JSON.stringify(task);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const startedAt = now();
      const answer = await post(url, body);
      journal.called(id, {
        status: task.status,
        attempt,
        sentAt: new Date(startedAt).toISOString(),
        answer,
      });
      if (typeof answer === 'number' && answer >= 200 && answer < 300) return;
      if (attempt < ATTEMPTS) await waitUntil(startedAt + acknowledgeMilliseconds);
    }
  };

  const announce = async (task: FollowedTask, changesAt: number, isLast: boolean) => {
    const lateness = isLast && task.mode === 'late' ? lateMilliseconds : 0;
    await waitUntil(changesAt + lateness + TIMER_SLACK_MILLISECONDS);
    const seen = task.lookAt(changesAt);
    if (!seen) return;
    const copies = task.mode === 'twice' ? 2 : 1;
    await Promise.all(Array.from({ length: copies }, () => deliver(task, seen)));
  };

  return {
    follow(task) {
      if (task.mode === 'off') return;
      for (const [index, changesAt] of task.changesAt.entries()) {
        announce(task, changesAt, index === task.changesAt.length - 1).catch((error) => {
          if (!signal.aborted) console.error('sandbox: a callback failed unexpectedly', error);
        });
      }
    },
    close: () => closing.abort(),
  };
};
