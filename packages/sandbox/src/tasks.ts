import { randomUUID } from 'node:crypto';

/** Why a task failed, in the words of the upstream it belongs to. */
export type TaskError = { code: string; message: string };

/** How a task ends: what it made, or why it failed. */
export type TaskOutcome<Result> = { result: Result } | { error: TaskError };

/** Where a task stands, in no upstream's own words, and what it is about. Instants are epoch milliseconds. */
export type TaskView<About, Result> = { id: string; about: About; submittedAt: number } & (
  | { phase: 'waiting' }
  | { phase: 'running'; startedAt: number }
  | { phase: 'succeeded'; startedAt: number; endedAt: number; result: Result }
  | { phase: 'failed'; startedAt: number; endedAt: number; error: TaskError }
  | { phase: 'cancelled'; endedAt: number }
);

/** A task to take in. */
export type NewTask<About, Result> = {
  /** What the upstream has to remember of it. */
  about: About;
  /** It finishes after this time, of which it waits for the first part; `Infinity` never finishes. */
  seconds: number;
  /** Called once, when the task is first looked at after its end, with the instant it ended. */
  finish: (endedAt: number) => TaskOutcome<Result>;
  /** The task gets an id and is not heard of again. */
  isForgotten?: boolean;
};

export type Tasks<About, Result> = {
  /** Answers the id, and the instants (epoch milliseconds) at which the task changes, in order, each once. */
  submit(task: NewTask<About, Result>): { id: string; changesAt: number[] };
  /**
   * Where a task stands now, or stood at an earlier instant. Undefined for an unknown id and for a task older than the
   * upstream keeps.
   */
  find(id: string, instant?: number): TaskView<About, Result> | undefined;
  /** Cancels a task that is still waiting; false when there is none. */
  cancel(id: string): boolean;
};

type Task<About, Result> = Pick<NewTask<About, Result>, 'about' | 'finish'> & {
  id: string;
  submittedAt: number;
  startsAt: number;
  endsAt: number;
  cancelledAt?: number;
  outcome?: TaskOutcome<Result>;
};

/** How long a task takes whose prompt does not say: enough for each of its statuses to be seen. */
export const DEFAULT_TASK_SECONDS = 0.5;

/** A task waits for a fifth of its time, but no longer than this. */
const LONGEST_WAIT_MILLISECONDS = 1_000;

/**
 * The tasks of one upstream. Nothing runs in the background: where a task stands follows from the clock whenever it is
 * looked at, so there is nothing to stop on closing. `newId` gives ids in the upstream's own form.
 */
export const createTasks = <About, Result>({
  now,
  retentionSeconds,
  newId = randomUUID,
}: {
  now: () => number;
  retentionSeconds: number;
  newId?: () => string;
}): Tasks<About, Result> => {
  const tasks = new Map<string, Task<About, Result>>();

  const isForgotten = ({ submittedAt }: Task<About, Result>) =>
    submittedAt + retentionSeconds * 1000 <= now();

  const forgetOld = () => {
    for (const [id, task] of tasks) {
      if (!isForgotten(task)) return;
      tasks.delete(id);
    }
  };

  const view = (task: Task<About, Result>, instant: number): TaskView<About, Result> => {
    const { id, about, submittedAt, startsAt, endsAt, cancelledAt } = task;
    const base = { id, about, submittedAt };
    if (cancelledAt !== undefined) return { ...base, phase: 'cancelled', endedAt: cancelledAt };
    if (instant < startsAt) return { ...base, phase: 'waiting' };
    if (instant < endsAt) return { ...base, phase: 'running', startedAt: startsAt };
    task.outcome ??= task.finish(endsAt);
    const ended = { ...base, startedAt: startsAt, endedAt: endsAt };
    return 'error' in task.outcome
      ? { ...ended, phase: 'failed', error: task.outcome.error }
      : { ...ended, phase: 'succeeded', result: task.outcome.result };
  };

  const find = (id: string) => {
    const task = tasks.get(id);
    return task && !isForgotten(task) ? task : undefined;
  };

  return {
    submit({ about, seconds, finish, isForgotten = false }) {
      forgetOld();
      const id = newId();
      const submittedAt = now();
      const startsAt = submittedAt + Math.min(LONGEST_WAIT_MILLISECONDS, (seconds * 1000) / 5);
      const endsAt = submittedAt + seconds * 1000;
      if (!isForgotten) tasks.set(id, { id, about, submittedAt, startsAt, endsAt, finish });
      const changesAt = [...new Set([submittedAt, startsAt, endsAt])].filter(Number.isFinite);
      return { id, changesAt };
    },

    find(id, instant = now()) {
      const task = find(id);
      return task && view(task, instant);
    },

    cancel(id) {
      const task = find(id);
      if (!task || view(task, now()).phase !== 'waiting') return false;
      task.cancelledAt = now();
      return true;
    },
  };
};
