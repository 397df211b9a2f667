import type { Command } from 'commander';
import type { Result } from './output.ts';
import { connect, type TargetOptions } from './target.ts';

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

/**
 * The action of a command. It checks its options (throwing `UsageError`), awaits `connected` once, and then calls `core`.
 */
export type Verb<Options> = (options: Options, connected: () => Promise<void>) => Promise<Result>;

/** Turns a verb into a commander action that connects to the service and prints the result. */
export type Perform = <Options>(verb: Verb<Options>) => (options: Options, command: Command) => Promise<void>;

/** Where a command writes: results to `out`, messages to `err`. `columns` is the width of the terminal behind `out`, when it is one. */
export interface Streams {
  out(text: string): void;
  err(text: string): void;
  columns?: number | undefined;
}

/** A `Perform` that prints through `streams`. */
export const performer =
  ({ out, columns }: Streams): Perform =>
  (verb) =>
  async (options, command) => {
    const { json, ...target } = command.optsWithGlobals<GlobalOptions>();
    const { value, text, failure } = await verb(options, async () => {
      await connect(target);
    });
    const shown = typeof text === 'string' ? text : text(columns);
    out(`${json ? JSON.stringify(value, null, 2) : shown}\n`);
    if (failure !== undefined) throw new FailureFoundError(failure);
  };
