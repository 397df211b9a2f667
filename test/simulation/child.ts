import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('simulate.ts', import.meta.url));

/** What a process of the simulation said, and how it ended. */
export interface Said {
  exitCode: number;
  text: string;
}

/**
 * Runs the simulation in a process of its own, as clock, timers, randomness and network of the process it runs
 * in are no longer real.
 */
export const runSimulation = (options: readonly string[]): Promise<Said> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [script, ...options],
      { maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const exitCode = error ? Number(error.code ?? 1) : 0;
        resolve({ exitCode, text: stdout + stderr });
      },
    );
  });
