/** One POST to a callback URL. */
export type CallbackAttempt = {
  /** The status word it announced. */
  status: string;
  /** From 1. */
  attempt: number;
  /** ISO 8601. */
  sentAt: string;
  /** The HTTP status it was answered with, or the name of the fault that kept it from an answer. */
  answer: number | string;
};

/** What happened to one task, for tests to look at. */
export type TaskRecord = {
  id: string;
  upstream: 'modelark' | 'modelstudio';
  model: string;
  /** As it arrived, with its directives. */
  prompt: string;
  callbackUrl?: string;
  /** How often the task was asked for. */
  queries: number;
  /** Every attempt that is over, in the order they ended. */
  callbacks: readonly CallbackAttempt[];
};

export type TaskJournal = {
  opened(task: Omit<TaskRecord, 'queries' | 'callbacks'>): void;
  /** Does nothing for a task that was never opened. */
  queried(id: string): void;
  /** Does nothing for a task that was never opened. */
  called(id: string, attempt: CallbackAttempt): void;
  find(id: string): TaskRecord | undefined;
  /** The tasks whose prompt contains a text, newest first. */
  list(promptPart: string): TaskRecord[];
};

/** Remembers the newest `capacity` tasks of all upstreams, including those an upstream has forgotten. */
export const createTaskJournal = (capacity = 10_000): TaskJournal => {
  const records = new Map<string, TaskRecord>();
  const change = (id: string, changed: (record: TaskRecord) => TaskRecord) => {
    const record = records.get(id);
    if (record) records.set(id, changed(record));
  };
  return {
    opened(task) {
      records.set(task.id, { ...task, queries: 0, callbacks: [] });
      const [oldest = task.id] = records.keys();
      if (records.size > capacity) records.delete(oldest);
    },
    queried: (id) => change(id, (record) => ({ ...record, queries: record.queries + 1 })),
    called: (id, attempt) =>
      change(id, (record) => ({ ...record, callbacks: [...record.callbacks, attempt] })),
    find: (id) => records.get(id),
    list: (promptPart) => [...records.values()].filter(({ prompt }) => prompt.includes(promptPart)).reverse(),
  };
};
