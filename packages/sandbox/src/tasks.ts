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

/** What `createTasks` works with. */
interface TasksOptions {
  now: () => number;
  retentionSeconds: number;
  newId?: () => string;
  /** How many tasks of a lane run at once; the others wait for one of them to end, in order. */
  runningTasks?: number | undefined;
}

/** The tasks of `createTasks`. */
class ClockedTasks<About, Result> implements Tasks<About, Result> {
  private readonly options: TasksOptions;
  private readonly newId: NonNullable<TasksOptions['newId']>;
  private readonly runningTasks: NonNullable<TasksOptions['runningTasks']>;
  private readonly tasks = new Map<string, Task<About, Result>>();

  constructor(options: TasksOptions) {
    this.options = options;
    this.newId = options.newId ?? randomUUID;
    this.runningTasks = options.runningTasks ?? Number.POSITIVE_INFINITY;
  }

  isFull(lane: string): boolean {
    return this.unfinishedOf(lane).length >= this.runningTasks;
  }

  submit({ isForgotten = false, ...task }: NewTask<About, Result>): { id: string; changesAt: number[] } {
    this.deletePastRetention();
    const id = this.newId();
    const submittedAt = this.options.now();
    const timed = {
      ...task,
      id,
      submittedAt,
      ...this.timesOf(task, submittedAt, this.unfinishedOf(task.lane)),
    };
    if (!isForgotten) this.tasks.set(id, timed);
    const changesAt = [...new Set([submittedAt, timed.startsAt, timed.endsAt])].filter(Number.isFinite);
    return { id, changesAt };
  }

  find(id: string, instant: number = this.options.now()): TaskView<About, Result> | undefined {
    const task = this.findKept(id);
    return task && this.view(task, instant);
  }

  list(): { lane: string | undefined; task: TaskView<About, Result> }[] {
    return [...this.tasks.values()]
      .filter((task) => !this.isPastRetention(task))
      .map((task) => ({ lane: task.lane, task: this.view(task, this.options.now()) }))
      .reverse();
  }

  cancel(id: string): boolean {
    const task = this.findKept(id);
    if (!task || this.view(task, this.options.now()).phase !== 'waiting') return false;
    task.cancelledAt = this.options.now();
    this.moveUp(task.lane);
    return true;
  }

  remove(id: string): void {
    return void this.tasks.delete(id);
  }

  private isPastRetention({ submittedAt, cancelledAt }: Task<About, Result>) {
    return (
      submittedAt + this.options.retentionSeconds * 1000 <= this.options.now() ||
      (cancelledAt !== undefined && cancelledAt + CANCELLED_RETENTION_MILLISECONDS <= this.options.now())
    );
  }

  private deletePastRetention() {
    for (const [id, task] of this.tasks) {
      if (!this.isPastRetention(task)) return;
      this.tasks.delete(id);
    }
  }

  private view(task: Task<About, Result>, instant: number): TaskView<About, Result> {
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
  }

  /** The tasks of a lane that have not ended yet, in the order of their submission. */
  private unfinishedOf(lane: string | undefined): Task<About, Result>[] {
    return [...this.tasks.values()].filter(
      (task) => task.lane === lane && task.cancelledAt === undefined && task.endsAt > this.options.now(),
    );
  }

  /** When a task starts and ends, given those of its lane that come before it. */
  private timesOf(
    { seconds, queuedSeconds }: Pick<NewTask<About, Result>, 'seconds' | 'queuedSeconds'>,
    submittedAt: number,
    before: readonly Task<About, Result>[],
  ): Pick<Task<About, Result>, 'startsAt' | 'endsAt'> {
    const waitMilliseconds = queuedSeconds === undefined ? shortWait(seconds) : queuedSeconds * 1000;
    const runMilliseconds = seconds * 1000 - (queuedSeconds === undefined ? waitMilliseconds : 0);
    // It starts once fewer than `runningTasks` of those before it are left.
    const ends = before.map(({ endsAt }) => endsAt).sort((one, other) => other - one);
    const startsAt = Math.max(submittedAt + waitMilliseconds, ends[this.runningTasks - 1] ?? 0);
    return { startsAt, endsAt: startsAt + runMilliseconds };
  }

  /** Lets the waiting tasks of a lane start earlier, as one before them was cancelled. */
  private moveUp(lane: string | undefined) {
    const before: Task<About, Result>[] = [];
    for (const task of this.unfinishedOf(lane)) {
      if (task.startsAt > this.options.now()) {
        const { startsAt, endsAt } = this.timesOf(task, task.submittedAt, before);
        const late = Math.max(0, this.options.now() - startsAt);
        task.startsAt = startsAt + late;
        task.endsAt = endsAt + late;
      }
      before.push(task);
    }
  }

  private findKept(id: string) {
    const task = this.tasks.get(id);
    return task && !this.isPastRetention(task) ? task : undefined;
  }
}

/**
 * Creates the tasks of one upstream. Nothing runs in the background: a task's state is computed from the clock on each
 * read, so there is nothing to stop. `now` returns epoch milliseconds; `newId` returns an id in the upstream's format.
 */
export const createTasks = <About, Result>(options: TasksOptions): Tasks<About, Result> =>
  new ClockedTasks(options);
