import { type ExitStatus, run } from '../../../ops/program.ts';

/** What a command did. */
export interface Outcome {
  status: ExitStatus;
  stdout: string;
  stderr: string;
}

/** Runs a command inside this process. */
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
