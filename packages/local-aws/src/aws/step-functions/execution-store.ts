import { createHash } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

import { systemCodeOf } from '../errors.ts';
import type { ExecutionSummary, HistoryEvent, Outcome } from './types.ts';

/** One execution as its file holds it. `input` is the JSON text it was started with; `startDate` is in epoch seconds. */
export interface StoredExecution {
  input: string;
  startDate: number;
  events: HistoryEvent[];
  outcome?: Outcome;
}

/**
 * The executions of one state machine on disk: a file each (its start, its events, its end, one JSON line each) and an index of names and
 * statuses, which is all that is read at start.
 */
export interface ExecutionStore {
  find(name: string): ExecutionSummary | undefined;
  /** In the order they were started. */
  list(): readonly ExecutionSummary[];
  /** Writes the start of an execution, replacing what its file held; it is on disk when this returns. */
  begin(name: string, input: string, startDate: number): void;
  /** Adds an event; it is written within 50 ms, and before anything that reads it. */
  append(name: string, event: HistoryEvent): void;
  /** Writes the end of an execution. A failure to write is logged; the execution has ended all the same. */
  end(name: string, outcome: Outcome): void;
  /** Reads an execution's file; undefined when it is missing or holds no start. */
  read(name: string): StoredExecution | undefined;
  close(): void;
}

const WRITE_DELAY_MILLIS = 50;

/** Execution names may hold almost any character; a plain one is its own file name. `~` cannot occur in a name. */
const fileNameOf = (name: string): string =>
  /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(name)
    ? `${name}.jsonl`
    : `~${createHash('sha256').update(name).digest('hex')}.jsonl`;

const readIfThere = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return '';
    throw error;
  }
};

/** The JSON lines of a text. A process killed while it wrote leaves half a line at the end, which is dropped. */
const parseLines = (text: string): Record<string, unknown>[] =>
  text.split('\n').flatMap((line) => {
    if (line === '') return [];
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });

/** Writes what nobody waits for: a full disk must not end the process. */
const orLog = (write: () => void): void => {
  try {
    write();
  } catch (error) {
    console.error('[aws] an execution could not be recorded:', error);
  }
};

/** Opens the store in `directory`, making it when absent. */
export const openExecutionStore = (directory: string): ExecutionStore => {
  mkdirSync(directory, { recursive: true });
  const indexPath = join(directory, 'index.jsonl');
  const summaries = new Map<string, ExecutionSummary>();
  const record = (entry: Partial<ExecutionSummary> & { name: string }) => {
    const known = summaries.get(entry.name);
    summaries.set(entry.name, { startDate: 0, status: 'RUNNING', ...known, ...entry });
  };
  const indexText = readIfThere(indexPath);
  for (const line of parseLines(indexText)) record(line as unknown as ExecutionSummary);
  const index = openSync(indexPath, 'a');
  if (indexText !== '' && !indexText.endsWith('\n')) writeSync(index, '\n');
  const note = (entry: Partial<ExecutionSummary> & { name: string }) => {
    record(entry);
    writeSync(index, `${JSON.stringify(entry)}\n`);
  };

  const pathOf = (name: string) => join(directory, fileNameOf(name));
  const pending = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    for (const [name, text] of pending) {
      pending.delete(name);
      appendFileSync(pathOf(name), text);
    }
  };
  const add = (name: string, line: unknown) =>
    pending.set(name, `${pending.get(name) ?? ''}${JSON.stringify(line)}\n`);

  return {
    find: (name) => summaries.get(name),
    list: () => [...summaries.values()],
    begin(name, input, startDate) {
      pending.delete(name);
      writeFileSync(pathOf(name), `${JSON.stringify({ start: { name, input, startDate } })}\n`);
      if (summaries.get(name)?.status !== 'RUNNING') note({ name, status: 'RUNNING', startDate });
    },
    append(name, event) {
      add(name, { event });
      timer ??= setTimeout(() => orLog(flush), WRITE_DELAY_MILLIS).unref();
    },
    end(name, outcome) {
      add(name, { end: outcome });
      orLog(flush);
      orLog(() => note({ name, status: outcome.status, stopDate: outcome.stopDate }));
    },
    read(name) {
      flush();
      const lines = parseLines(readIfThere(pathOf(name)));
      const start = lines[0]?.start as { input: string; startDate: number } | undefined;
      if (!start) return undefined;
      const outcome = lines.findLast((line) => 'end' in line)?.end as Outcome | undefined;
      return {
        input: start.input,
        startDate: start.startDate,
        events: lines.flatMap((line) => ('event' in line ? [line.event as HistoryEvent] : [])),
        ...(outcome && { outcome }),
      };
    },
    close() {
      flush();
      closeSync(index);
    },
  };
};
