import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** How many items of a shape are kept. */
export const SAMPLES_OF_A_SHAPE = 1;

/** What a release stores and passes on. */
export interface Recorded {
  /** Items as they were written, of each entity one of each shape. */
  items: { entity: string; item: Record<string, unknown> }[];
  /** The whole table at an instant with requests under way, and the key of its account. */
  table: { at: string; apiKey: string; items: Record<string, unknown>[] };
  /** Payloads and results of task functions. */
  steps: { task: string; payload: unknown; result: Record<string, unknown> | null }[];
  /** By entity, the JSON Schema of the items that the release can read. */
  schemas: Record<string, object>;
}

const PROGRAM = fileURLToPath(new URL('record.ts', import.meta.url));
const MAX_BYTES = 64 * 1024 * 1024;

/** Records a source tree, by default this one. In a process of its own, which has no real clock and network; takes some 10 s. */
export const recordTree = async (folder?: string): Promise<Recorded> => {
  const args = ['--disable-warning=ExperimentalWarning', PROGRAM, ...(folder === undefined ? [] : [folder])];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: MAX_BYTES });
  return JSON.parse(stdout) as Recorded;
};
