import { randomUUID } from 'node:crypto';

/** Why a task failed, in the words of the upstream it belongs to. */
export type TaskError = { code: string; message: string };

/** How a task ends: what it made, or why it failed. */
export type TaskOutcome<Result> = { result: Result } | { error: TaskError };

/** Where a task stands, in no upstream's own words. Instants are epoch milliseconds. */
export type TaskView<Result> = { id: string; submittedAt: number } & (
  | { phase: 'waiting' }
  | { phase: 'running'; startedAt: number }
  | { phase: 'succeeded'; startedAt: number; endedAt: number; result: Result }
  | { phase: 'failed'; startedAt: number; endedAt: number; error: TaskError }
  | { phase: 'cancelled'; endedAt: number }
);

export type Tasks<Result> = {
  /**
   * Takes in a task that finishes after `seconds`, of which it waits for the first part; `Infinity` never finishes.
   * `finish` is called once, when the task is first looked at after its end, with the instant it ended.
   */
  submit(task: { seconds: number; finish: (endedAt: number) => TaskOutcome<Result> }): TaskView<Result>;
  /** Undefined for an unknown id and for a task older than the upstream keeps. */
  find(id: string): TaskView<Result> | undefined;
  /** Cancels a task that is still waiting; false when there is none. */
  cancel(id: string): boolean;
};

type Task<Result> = {
  id: string;
  submittedAt: number;
  startsAt: number;
  endsAt: number;
  finish: (endedAt: number) => TaskOutcome<Result>;
  cancelledAt?: number;
  outcome?: TaskOutcome<Result>;
};

/** A task waits for a fifth of its time, but no longer than this. */
const LONGEST_WAIT_MILLISECONDS = 1_000;

/**
 * The tasks of one upstream. Nothing runs in the background: where a task stands follows from the clock whenever it is
 * looked at, so there is nothing to stop on closing. `newId` gives ids in the upstream's own form.
 */
export const createTasks = <Result>({
  now,
  retentionSeconds,
  newId = randomUUID,
}: {
  now: () => number;
  retentionSeconds: number;
  newId?: () => string;
}): Tasks<Result> => {
  const tasks = new Map<string, Task<Result>>();

  const isForgotten = ({ submittedAt }: Task<Result>) => submittedAt + retentionSeconds * 1000 <= now();

  const forgetOld = () => {
    for (const [id, task] of tasks) {
      if (!isForgotten(task)) return;
      tasks.delete(id);
    }
  };

  const view = (task: Task<Result>): TaskView<Result> => {
    const { id, submittedAt, startsAt, endsAt, cancelledAt } = task;
    if (cancelledAt !== undefined) return { id, submittedAt, phase: 'cancelled', endedAt: cancelledAt };
    if (now() < startsAt) return { id, submittedAt, phase: 'waiting' };
    if (now() < endsAt) return { id, submittedAt, phase: 'running', startedAt: startsAt };
    task.outcome ??= task.finish(endsAt);
    const ended = { id, submittedAt, startedAt: startsAt, endedAt: endsAt };
    return 'error' in task.outcome
      ? { ...ended, phase: 'failed', error: task.outcome.error }
      : { ...ended, phase: 'succeeded', result: task.outcome.result };
  };

  const find = (id: string) => {
    const task = tasks.get(id);
    return task && !isForgotten(task) ? task : undefined;
  };

  return {
    submit({ seconds, finish }) {
      forgetOld();
      const submittedAt = now();
      const startsAt = submittedAt + Math.min(LONGEST_WAIT_MILLISECONDS, (seconds * 1000) / 5);
      const task = { id: newId(), submittedAt, startsAt, endsAt: submittedAt + seconds * 1000, finish };
      tasks.set(task.id, task);
      return { id: task.id, submittedAt, phase: 'waiting' };
    },

    find(id) {
      const task = find(id);
      return task && view(task);
    },

    cancel(id) {
      const task = find(id);
      if (!task || view(task).phase !== 'waiting') return false;
      task.cancelledAt = now();
      return true;
    },
  };
};
