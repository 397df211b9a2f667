import type { Command } from 'commander';
import type { Result } from './output.ts';
import { connect, type TargetOptions } from './target.ts';

/** The options every verb takes. */
export interface GlobalOptions extends TargetOptions {
  json?: true;
}

/** The command was written wrongly in a way only the verb itself can see: exit status 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The command did its work, and what it found makes it fail. The message is for the operator. */
export class FailureFoundError extends Error {
  override name = 'FailureFoundError';
}

/**
 * Does a verb's work. It first checks what can be checked without the service (throwing `UsageError`), then awaits `connected` once,
 * and only then calls `core`.
 */
export type Verb<Options> = (options: Options, connected: () => Promise<void>) => Promise<Result>;

/** Makes a verb the action of its command: connects it to where it acts, and prints what it answers. */
export type Perform = <Options>(verb: Verb<Options>) => (options: Options, command: Command) => Promise<void>;

/** A `Perform` that prints through `out`. */
export const performer =
  (out: (text: string) => void): Perform =>
  (verb) =>
  async (options, command) => {
    const { json, ...target } = command.optsWithGlobals<GlobalOptions>();
    const { value, text, failure } = await verb(options, () => connect(target));
    out(`${json ? JSON.stringify(value, null, 2) : text}\n`);
    if (failure !== undefined) throw new FailureFoundError(failure);
  };
