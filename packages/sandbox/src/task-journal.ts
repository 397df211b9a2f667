/** One POST to a callback URL. */
export type CallbackAttempt = {
  /** The task status it carried. */
  status: string;
  /** From 1. */
  attempt: number;
  /** ISO 8601. */
  sentAt: string;
  /** The HTTP status of the response, or the name of the error when there was none. */
  answer: number | string;
};

/** What happened to one task. */
export type TaskRecord = {
  id: string;
  /** The folder of the upstream. */
  upstream: string;
  model: string;
  /** As received, with its directives. */
  prompt: string;
  callbackUrl?: string;
  /** How often the task was queried. */
  queries: number;
  /** How often it was asked to be cancelled or deleted, refusals included. */
  cancels: number;
  /** The finished attempts, in the order they finished. */
  callbacks: readonly CallbackAttempt[];
};

/** Records tasks, their queries and their callbacks. */
export type TaskJournal = {
  add(task: Omit<TaskRecord, 'queries' | 'cancels' | 'callbacks'>): void;
  /** Ignores unknown tasks. */
  countQuery(id: string): void;
  /** Ignores unknown tasks. */
  countCancel(id: string): void;
  /** Ignores unknown tasks. */
  addCallback(id: string, attempt: CallbackAttempt): void;
  find(id: string): TaskRecord | undefined;
  /** The tasks whose prompt contains this text, newest first. */
  list(promptPart: string): TaskRecord[];
};

/** Creates a journal of the newest `capacity` tasks of both upstreams, including forgotten ones. */
export const createTaskJournal = (capacity = 10_000): TaskJournal => {
  const records = new Map<string, TaskRecord>();
  const update = (id: string, change: (record: TaskRecord) => TaskRecord) => {
    const record = records.get(id);
    if (record) records.set(id, change(record));
  };
  return {
    add(task) {
      records.set(task.id, { ...task, queries: 0, cancels: 0, callbacks: [] });
      const [oldest = task.id] = records.keys();
      if (records.size > capacity) records.delete(oldest);
    },
    countQuery: (id) => update(id, (record) => ({ ...record, queries: record.queries + 1 })),
    countCancel: (id) => update(id, (record) => ({ ...record, cancels: record.cancels + 1 })),
    addCallback: (id, attempt) =>
      update(id, (record) => ({ ...record, callbacks: [...record.callbacks, attempt] })),
    find: (id) => records.get(id),
    list: (promptPart) => [...records.values()].filter(({ prompt }) => prompt.includes(promptPart)).reverse(),
  };
};
