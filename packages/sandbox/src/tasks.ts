import { randomUUID } from 'node:crypto';

/** Why a task failed, with the upstream's own code and message. */
export type TaskError = { code: string; message: string };

/** The result of a task, or its error. */
export type TaskOutcome<Result> = { result: Result } | { error: TaskError };

/** The state of a task at some instant, common to both upstreams. Instants are epoch milliseconds. */
export type TaskView<About, Result> = { id: string; about: About; submittedAt: number } & (
  | { phase: 'waiting' }
  | { phase: 'running'; startedAt: number }
  | { phase: 'succeeded'; startedAt: number; endedAt: number; result: Result }
  | { phase: 'failed'; startedAt: number; endedAt: number; error: TaskError }
  | { phase: 'cancelled'; endedAt: number }
);

/** A task to submit. */
export type NewTask<About, Result> = {
  /** What the upstream stores with the task. */
  about: About;
  /** The tasks that share the upstream's capacity: those of a model. */
  lane?: string | undefined;
  /** Time from submission to the end, first waiting, then running; `Infinity` never ends. */
  seconds: number;
  /** Time to wait before `seconds` begin, all of which it then runs. */
  queuedSeconds?: number | undefined;
  /** Called at most once, when the task is first read after its end. `endedAt` is in epoch milliseconds. */
  finish: (endedAt: number) => TaskOutcome<Result>;
  /** The task gets an id but is not stored. */
  isForgotten?: boolean;
};

/** The tasks of one upstream. */
export type Tasks<About, Result> = {
  /** Whether as many tasks of a lane are unfinished as may run at once. */
  isFull(lane: string): boolean;
  /** Returns the id, and when the task changes status: epoch milliseconds, ascending, without duplicates. */
  submit(task: NewTask<About, Result>): { id: string; changesAt: number[] };
  /** The task's state now or at an earlier instant; undefined when unknown or past the upstream's retention. */
  find(id: string, instant?: number): TaskView<About, Result> | undefined;
  /** The tasks within the upstream's retention with their lanes, newest first. */
  list(): { lane: string | undefined; task: TaskView<About, Result> }[];
  /** Cancels a waiting task. Returns false when there is none. */
  cancel(id: string): boolean;
  /** Deletes the record of a task in any state. Does nothing for an unknown one. */
  remove(id: string): void;
};

type Task<About, Result> = Pick<
  NewTask<About, Result>,
  'about' | 'finish' | 'lane' | 'queuedSeconds' | 'seconds'
> & {
  id: string;
  submittedAt: number;
  startsAt: number;
  endsAt: number;
  cancelledAt?: number;
  outcome?: TaskOutcome<Result>;
};

/** Duration of a task without `[delay]`: long enough to observe every status. */
export const DEFAULT_TASK_SECONDS = 0.5;

/** Both upstreams forget a cancelled task after a day at the latest. */
const CANCELLED_RETENTION_MILLISECONDS = 24 * 60 * 60 * 1000;

/** A task waits for a fifth of its duration, up to this long. */
const MAX_WAIT_MILLISECONDS = 1_000;

const shortWait = (seconds: number) => Math.min(MAX_WAIT_MILLISECONDS, (seconds * 1000) / 5);

/**
 * Creates the tasks of one upstream. Nothing runs in the background: a task's state is computed from the clock on each
 * read, so there is nothing to stop. `now` returns epoch milliseconds; `newId` returns an id in the upstream's format.
 */
export const createTasks = <About, Result>({
  now,
  retentionSeconds,
  newId = randomUUID,
  runningTasks = Number.POSITIVE_INFINITY,
}: {
  now: () => number;
  retentionSeconds: number;
  newId?: () => string;
  /** How many tasks of a lane run at once; the others wait for one of them to end, in order. */
  runningTasks?: number | undefined;
}): Tasks<About, Result> => {
  const tasks = new Map<string, Task<About, Result>>();

  const isPastRetention = ({ submittedAt, cancelledAt }: Task<About, Result>) =>
    submittedAt + retentionSeconds * 1000 <= now() ||
    (cancelledAt !== undefined && cancelledAt + CANCELLED_RETENTION_MILLISECONDS <= now());

  const deletePastRetention = () => {
    for (const [id, task] of tasks) {
      if (!isPastRetention(task)) return;
      tasks.delete(id);
    }
  };

  const view = (task: Task<About, Result>, instant: number): TaskView<About, Result> => {
    const { id, about, submittedAt, startsAt, endsAt, cancelledAt } = task;
    const base = { id, about, submittedAt };
    if (cancelledAt !== undefined && cancelledAt <= instant)
      return { ...base, phase: 'cancelled', endedAt: cancelledAt };
    if (instant < startsAt) return { ...base, phase: 'waiting' };
    if (instant < endsAt) return { ...base, phase: 'running', startedAt: startsAt };
    task.outcome ??= task.finish(endsAt);
    const ended = { ...base, startedAt: startsAt, endedAt: endsAt };
    return 'error' in task.outcome
      ? { ...ended, phase: 'failed', error: task.outcome.error }
      : { ...ended, phase: 'succeeded', result: task.outcome.result };
  };

  /** The tasks of a lane that have not ended yet, in the order of their submission. */
  const unfinishedOf = (lane: string | undefined): Task<About, Result>[] =>
    [...tasks.values()].filter(
      (task) => task.lane === lane && task.cancelledAt === undefined && task.endsAt > now(),
    );

  /** When a task starts and ends, given those of its lane that come before it. */
  const timesOf = (
    { seconds, queuedSeconds }: Pick<NewTask<About, Result>, 'seconds' | 'queuedSeconds'>,
    submittedAt: number,
    before: readonly Task<About, Result>[],
  ): Pick<Task<About, Result>, 'startsAt' | 'endsAt'> => {
    const waitMilliseconds = queuedSeconds === undefined ? shortWait(seconds) : queuedSeconds * 1000;
    const runMilliseconds = seconds * 1000 - (queuedSeconds === undefined ? waitMilliseconds : 0);
    // It starts once fewer than `runningTasks` of those before it are left.
    const ends = before.map(({ endsAt }) => endsAt).sort((one, other) => other - one);
    const startsAt = Math.max(submittedAt + waitMilliseconds, ends[runningTasks - 1] ?? 0);
    return { startsAt, endsAt: startsAt + runMilliseconds };
  };

  /** Lets the waiting tasks of a lane start earlier, as one before them was cancelled. */
  const moveUp = (lane: string | undefined) => {
    const before: Task<About, Result>[] = [];
    for (const task of unfinishedOf(lane)) {
      if (task.startsAt > now()) {
        const { startsAt, endsAt } = timesOf(task, task.submittedAt, before);
        const late = Math.max(0, now() - startsAt);
        task.startsAt = startsAt + late;
        task.endsAt = endsAt + late;
      }
      before.push(task);
    }
  };

  const find = (id: string) => {
    const task = tasks.get(id);
    return task && !isPastRetention(task) ? task : undefined;
  };

  return {
    isFull: (lane) => unfinishedOf(lane).length >= runningTasks,

    submit({ isForgotten = false, ...task }) {
      deletePastRetention();
      const id = newId();
      const submittedAt = now();
      const timed = { ...task, id, submittedAt, ...timesOf(task, submittedAt, unfinishedOf(task.lane)) };
      if (!isForgotten) tasks.set(id, timed);
      const changesAt = [...new Set([submittedAt, timed.startsAt, timed.endsAt])].filter(Number.isFinite);
      return { id, changesAt };
    },

    find(id, instant = now()) {
      const task = find(id);
      return task && view(task, instant);
    },

    list: () =>
      [...tasks.values()]
        .filter((task) => !isPastRetention(task))
        .map((task) => ({ lane: task.lane, task: view(task, now()) }))
        .reverse(),

    cancel(id) {
      const task = find(id);
      if (!task || view(task, now()).phase !== 'waiting') return false;
      task.cancelledAt = now();
      moveUp(task.lane);
      return true;
    },

    remove: (id) => void tasks.delete(id),
  };
};
