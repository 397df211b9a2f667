import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { MEASUREMENTS, Measured } from './known-faults/measurements.ts';

const scriptOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

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
      [scriptOf('simulate.ts'), ...options],
      { maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const exitCode = error ? Number(error.code ?? 1) : 0;
        resolve({ exitCode, text: stdout + stderr });
      },
    );
  });

/** Measures something in a process of its own, for the same reason. Rejects when it takes longer than `timeout` milliseconds. */
export const measureApart = async <Name extends keyof typeof MEASUREMENTS>(
  name: Name,
  timeout: number,
  argument?: number,
): Promise<Measured<Name>> => {
  const args = [scriptOf('known-faults/main.ts'), name, String(argument)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout });
  return JSON.parse(stdout) as Measured<Name>;
};
