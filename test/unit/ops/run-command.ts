import { type ExitStatus, run } from '../../../ops/program.ts';

/** The outcome of a command. */
export interface Outcome {
  status: ExitStatus;
  stdout: string;
  stderr: string;
}

/** Runs a command in this process. It sets environment variables as `connect` does, and leaves them set. */
export const runCommand = async (...args: string[]): Promise<Outcome> => {
  let stdout = '';
  let stderr = '';
  const status = await run(args, {
    out: (text) => {
      stdout += text;
    },
    err: (text) => {
      stderr += text;
    },
  });
  return { status, stdout, stderr };
};
