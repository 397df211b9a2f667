import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isQuick } from '../publish.ts';
import type { Part } from '../results.ts';

/** Parts that the simulation measures. */
export type SimulatedPart = 'costs' | 'waiting';

const PROGRAM = fileURLToPath(new URL('part.ts', import.meta.url));
const MAX_OUTPUT_BYTES = 10_000_000;

/** Measures a part, or less of it, in a process of its own: the simulation replaces clock, timers and network of its process. */
export const measureApart = async (name: SimulatedPart, quick = isQuick): Promise<Part> => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [PROGRAM, name, ...(quick ? ['--quick'] : [])],
    { maxBuffer: MAX_OUTPUT_BYTES },
  );
  return JSON.parse(stdout) as Part;
};
