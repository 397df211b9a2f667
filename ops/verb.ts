import type { Command } from 'commander';
import {
  type Actor,
  type AuditWrite,
  auditWrite,
  putAuditEntry,
  type StaffChange,
} from '../core/audit/audit.ts';
import { withAccountId } from './account-names.ts';
import { findActor } from './actor.ts';
import type { Result } from './output.ts';
import { type Progress, reportLate } from './progress.ts';
import { withSubjects } from './subject.ts';
import type { connect, Target, TargetOptions } from './target.ts';
import { terminalJson } from './terminal-text.ts';

/** Options of every verb. */
interface GlobalOptions extends TargetOptions {
  json?: true;
  actor?: string;
}

/** A change as its verb describes it, without actor and command. */
type ToldChange = Omit<StaffChange, keyof Actor | 'action'>;

/** Records changes in the name of who makes them. */
export interface Recorder {
  /** The write that records a change, for the transaction that makes it. */
  write(change: ToldChange): AuditWrite[];
  /** Records a change that is no write of the table, once it is made. */
  put(change: ToldChange): Promise<void>;
}

export { UsageError } from './usage-error.ts';

/** The command ran and found a failure. The message is for the operator. Exit status 1. */
export class FailureFoundError extends Error {
  override name = 'FailureFoundError';
}

/** What a command printed, and its exit status. */
export interface Said {
  stdout: string;
  stderr: string;
  status: number;
}

/** Where a command writes: results to `out`, messages to `err`. */
export interface Streams {
  out(text: string): void;
  err(text: string): void;
  /** False for readers who give no commands: errors then come without advice on commands. */
  hints?: false;
  /** Size of the terminal behind `out`; absent when it is none. */
  columns?: number | undefined;
  rows?: number | undefined;
  /** Shows the progress of a slow command; absent without a terminal. */
  progress?: Progress | undefined;
  /** Keeps Ctrl-C and SIGTERM from ending the process from now on: the first aborts the signal instead. */
  catchInterrupt?(): AbortSignal;
}

/** Context of a verb, besides its options. */
export interface Surroundings {
  streams: Streams;
  json: boolean;
  /** The name that `--actor` gives. */
  actor: string | undefined;
  /** Reports the progress of a slow command. */
  say(text: string): void;
  /** Stops the progress messages: the verb shows its own progress. */
  quiet(): void;
  /** For a verb that changes something, once it is connected. */
  recorder(): Promise<Recorder>;
}

/**
 * The action of a command. It checks its options (throwing `UsageError`), awaits `connected` once, and then
 * calls `core`. A verb that has printed its result returns nothing.
 */
export type Verb<Options> = (
  options: Options,
  connected: () => Promise<Target>,
  surroundings: Surroundings,
) => Promise<Result | undefined>;

/** Turns a verb into a commander action that connects to the service and prints the result. */
export type Perform = <Options>(verb: Verb<Options>) => (...given: unknown[]) => Promise<void>;

/** The words that name a command, after the program's. */
const pathOf = (command: Command): string[] =>
  command.parent ? [...pathOf(command.parent), command.name()] : [];

/** A `Perform` that prints through `streams`, on the service that `connectTo` leads to. */
export const performer =
  (streams: Streams, connectTo: typeof connect): Perform =>
  (verb) =>
  async (...given) => {
    const [options, command] = given.splice(-2) as [Record<string, unknown>, Command];
    const asked = withSubjects(command, given as (string | undefined)[], options);
    const { json, actor, ...targetOptions } = command.optsWithGlobals<GlobalOptions>();
    const action = pathOf(command).join(' ');
    let target: Promise<Target> | undefined;
    const { say, stop } = reportLate(streams.progress, `ops ${action}`);
    const connected = (): Promise<Target> => {
      target ??= connectTo(targetOptions);
      return target;
    };
    const recorder = async (): Promise<Recorder> => {
      if (!target) throw new Error('A verb records what it changes once it is connected.');
      const who = await findActor(await target, actor);
      return {
        write: (change) => [auditWrite({ ...who, action, ...change }, new Date())],
        put: (change) => putAuditEntry({ ...who, action, ...change }, new Date()),
      };
    };
    const surroundings = { streams, json: json === true, actor, say, quiet: stop, recorder };
    const made = async () => {
      const named = await withAccountId(asked, connected);
      return verb(named as Parameters<typeof verb>[0], connected, surroundings);
    };
    const result = await made().finally(stop);
    if (!result) return;
    const { value, text, failure } = result;
    const shown = typeof text === 'string' ? text : text(streams.columns);
    streams.out(`${json ? terminalJson(value) : shown}\n`);
    if (failure !== undefined) throw new FailureFoundError(failure);
  };
