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

/** The store of `openExecutionStore`. */
class FileStore implements ExecutionStore {
  private readonly directory: string;
  private readonly summaries = new Map<string, ExecutionSummary>();
  /** Inputs of running executions. */
  private readonly inputs = new Map<string, string>();
  /** The descriptor of the index, open for appending. */
  private readonly index: number;
  private readonly pending = new Map<string, string>();
  /** Executions whose file is still that of an earlier run, or none. */
  private readonly begun = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(directory: string) {
    this.directory = directory;
    mkdirSync(directory, { recursive: true });
    const indexPath = join(directory, 'index.jsonl');
    const indexText = readIfThere(indexPath);
    for (const line of parseLines(indexText)) this.record(line as unknown as IndexEntry);
    this.index = openSync(indexPath, 'a');
    if (indexText !== '' && !indexText.endsWith('\n')) writeSync(this.index, '\n');
  }

  find(name: string): ExecutionSummary | undefined {
    return this.summaries.get(name);
  }

  list(): readonly ExecutionSummary[] {
    return [...this.summaries.values()];
  }

  begin(name: string, input: string, startDate: number): void {
    this.pending.delete(name);
    this.begun.add(name);
    this.add(name, { start: { name, input, startDate } });
    if (this.inputs.get(name) === undefined) this.note({ name, status: 'RUNNING', startDate, input });
  }

  append(name: string, event: HistoryEvent): void {
    this.add(name, { event });
    this.timer ??= setTimeout(() => orLog(this.flush), WRITE_DELAY_MILLIS).unref();
  }

  end(name: string, outcome: Outcome): void {
    this.add(name, { end: outcome });
    orLog(this.flush);
    orLog(() => this.note({ name, status: outcome.status, stopDate: outcome.stopDate }));
  }

  read(name: string): StoredExecution | undefined {
    this.flush();
    const lines = parseLines(readIfThere(this.pathOf(name)));
    const start = lines[0]?.start as { input: string; startDate: number } | undefined;
    const input = start?.input ?? this.inputs.get(name);
    if (input === undefined) return undefined;
    const outcome = lines.findLast((line) => 'end' in line)?.end as Outcome | undefined;
    return {
      input,
      startDate: start?.startDate ?? this.summaries.get(name)?.startDate ?? 0,
      events: lines.flatMap((line) => ('event' in line ? [line.event as HistoryEvent] : [])),
      ...(outcome && { outcome }),
    };
  }

  close(): void {
    this.flush();
    closeSync(this.index);
  }

  private record({ input, ...entry }: IndexEntry) {
    const { name } = entry;
    const summary = { startDate: 0, status: 'RUNNING' as const, ...this.summaries.get(name), ...entry };
    this.summaries.set(name, summary);
    if (summary.status !== 'RUNNING') this.inputs.delete(name);
    else if (input !== undefined) this.inputs.set(name, input);
  }

  private note(entry: IndexEntry) {
    this.record(entry);
    writeSync(this.index, `${JSON.stringify(entry)}\n`);
  }

  private pathOf(name: string) {
    return join(this.directory, fileNameOf(name));
  }

  private readonly flush = () => {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const [name, text] of this.pending) {
      this.pending.delete(name);
      (this.begun.delete(name) ? writeFileSync : appendFileSync)(this.pathOf(name), text);
    }
  };

  private add(name: string, line: unknown) {
    return this.pending.set(name, `${this.pending.get(name) ?? ''}${JSON.stringify(line)}\n`);
  }
}

/** Opens the store in `directory`, created when absent. */
export const openExecutionStore = (directory: string): ExecutionStore => new FileStore(directory);
