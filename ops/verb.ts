import type { Command } from 'commander';
import type { Result } from './output.ts';
import { type Progress, reportLate } from './progress.ts';
import { connect, type Target, type TargetOptions } from './target.ts';
import { terminalJson } from './terminal-text.ts';

/** Options of every verb. */
export interface GlobalOptions extends TargetOptions {
  json?: true;
}

/** Bad usage that only the verb can detect. Exit status 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The command ran and found a failure. The message is for the operator. Exit status 1. */
export class FailureFoundError extends Error {
  override name = 'FailureFoundError';
}

/** Where a command writes: results to `out`, messages to `err`. */
export interface Streams {
  out(text: string): void;
  err(text: string): void;
  /** Size of the terminal behind `out`; absent when it is none. */
  columns?: number | undefined;
  rows?: number | undefined;
  /** Shows the progress of a slow command; absent without a terminal. */
  progress?: Progress | undefined;
  /** Keeps Ctrl-C from ending the process from now on: it aborts the signal instead, once. */
  catchInterrupt?(): AbortSignal;
}

/** Context of a verb, besides its options. */
export interface Surroundings {
  streams: Streams;
  json: boolean;
  /** Reports the progress of a slow command. */
  say(text: string): void;
  /** Stops the progress messages: the verb shows its own progress. */
  quiet(): void;
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
export type Perform = <Options>(verb: Verb<Options>) => (options: Options, command: Command) => Promise<void>;

/** The words that name a command, after the program's. */
const pathOf = (command: Command): string[] =>
  command.parent ? [...pathOf(command.parent), command.name()] : [];

/** A `Perform` that prints through `streams`. */
export const performer =
  (streams: Streams): Perform =>
  (verb) =>
  async (options, command) => {
    const { json, ...target } = command.optsWithGlobals<GlobalOptions>();
    const { say, stop } = reportLate(streams.progress, ['ops', ...pathOf(command)].join(' '));
    const result = await verb(options, () => connect(target), {
      streams,
      json: json === true,
      say,
      quiet: stop,
    }).finally(stop);
    if (!result) return;
    const { value, text, failure } = result;
    const shown = typeof text === 'string' ? text : text(streams.columns);
    streams.out(`${json ? terminalJson(value) : shown}\n`);
    if (failure !== undefined) throw new FailureFoundError(failure);
  };
