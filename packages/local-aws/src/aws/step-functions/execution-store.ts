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

/** A stored execution. `input` is JSON text; `startDate` is in epoch seconds. */
export interface StoredExecution {
  input: string;
  startDate: number;
  events: HistoryEvent[];
  outcome?: Outcome;
}

/**
 * The executions of one state machine on disk. An index holds their names, inputs and statuses; a file per execution
 * has a JSON line for its start, each event and its end. Only the index is read at start. An execution has no file
 * before its first events are written.
 */
export interface ExecutionStore {
  find(name: string): ExecutionSummary | undefined;
  /** In starting order. */
  list(): readonly ExecutionSummary[];
  /** Writes the start of an execution to the index, where it is when this returns. Its history begins anew. */
  begin(name: string, input: string, startDate: number): void;
  /** Adds an event; written within 250 ms, and before it is read. Those of an execution that a kill interrupts are of no use: it starts again. */
  append(name: string, event: HistoryEvent): void;
  /** Writes the end of an execution. A write error is logged, not thrown. */
  end(name: string, outcome: Outcome): void;
  /** Reads an execution; undefined when its input is not known. */
  read(name: string): StoredExecution | undefined;
  close(): void;
}

/** A line of the index: what changed of an execution. */
type IndexEntry = Partial<ExecutionSummary> & { name: string; input?: string };

const WRITE_DELAY_MILLIS = 250;

/** A plain name is its own file name; any other is hashed. `~` cannot occur in a name. */
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

/** The JSON lines of a text. Drops a broken line, which a process killed while writing leaves at the end. */
const parseLines = (text: string): Record<string, unknown>[] =>
  text.split('\n').flatMap((line) => {
    if (line === '') return [];
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });

/** Logs a write error: a full disk must not end the process. */
const orLog = (write: () => void): void => {
  try {
    write();
  } catch (error) {
    console.error('[aws] an execution could not be recorded:', error);
  }
};

/** Opens the store in `directory`, created when absent. */
export const openExecutionStore = (directory: string): ExecutionStore => {
  mkdirSync(directory, { recursive: true });
  const indexPath = join(directory, 'index.jsonl');
  const summaries = new Map<string, ExecutionSummary>();
  /** Inputs of running executions. */
  const inputs = new Map<string, string>();
  const record = ({ input, ...entry }: IndexEntry) => {
    const { name } = entry;
    const summary = { startDate: 0, status: 'RUNNING' as const, ...summaries.get(name), ...entry };
    summaries.set(name, summary);
    if (summary.status !== 'RUNNING') inputs.delete(name);
    else if (input !== undefined) inputs.set(name, input);
  };
  const indexText = readIfThere(indexPath);
  for (const line of parseLines(indexText)) record(line as unknown as IndexEntry);
  const index = openSync(indexPath, 'a');
  if (indexText !== '' && !indexText.endsWith('\n')) writeSync(index, '\n');
  const note = (entry: IndexEntry) => {
    record(entry);
    writeSync(index, `${JSON.stringify(entry)}\n`);
  };

  const pathOf = (name: string) => join(directory, fileNameOf(name));
  const pending = new Map<string, string>();
  /** Executions whose file is still that of an earlier run, or none. */
  const begun = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    for (const [name, text] of pending) {
      pending.delete(name);
      (begun.delete(name) ? writeFileSync : appendFileSync)(pathOf(name), text);
    }
  };
  const add = (name: string, line: unknown) =>
    pending.set(name, `${pending.get(name) ?? ''}${JSON.stringify(line)}\n`);

  return {
    find: (name) => summaries.get(name),
    list: () => [...summaries.values()],
    begin(name, input, startDate) {
      pending.delete(name);
      begun.add(name);
      add(name, { start: { name, input, startDate } });
      if (inputs.get(name) === undefined) note({ name, status: 'RUNNING', startDate, input });
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
      const input = start?.input ?? inputs.get(name);
      if (input === undefined) return undefined;
      const outcome = lines.findLast((line) => 'end' in line)?.end as Outcome | undefined;
      return {
        input,
        startDate: start?.startDate ?? summaries.get(name)?.startDate ?? 0,
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
