import { type ExitStatus, run } from '../../../ops/program.ts';
import type { Streams } from '../../../ops/verb.ts';

/** The outcome of a command. */
export interface Outcome {
  status: ExitStatus;
  stdout: string;
  stderr: string;
}

/** Runs a command in this process. It sets environment variables as `connect` does, and leaves them set. */
export const runCommand = (...args: string[]): Promise<Outcome> => runCommandOn({}, ...args);

/** The same on a terminal, or with other means that a command may have. `out` is told what is printed as well. */
export const runCommandOn = async (streams: Partial<Streams>, ...args: string[]): Promise<Outcome> => {
  let stdout = '';
  let stderr = '';
  const status = await run(args, {
    ...streams,
    out: (text) => {
      stdout += text;
      streams.out?.(text);
    },
    err: (text) => {
      stderr += text;
    },
  });
  return { status, stdout, stderr };
};
