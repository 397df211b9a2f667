import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const REFUSAL = /AccessDenied|is not authorized to perform/;

/** Every line of a local run's function logs and execution histories that reports a call denied to its role. */
export const refusedCalls = (dataDir: string): Promise<string[]> =>
  linesOf(dataDir, ['logs', 'executions'], (line) => REFUSAL.test(line));

/** Every line of a local run's function logs that contains this text, after the name of its file. */
export const loggedLines = (dataDir: string, text: string): Promise<string[]> =>
  linesOf(dataDir, ['logs'], (line) => line.includes(text));

const linesOf = async (
  dataDir: string,
  folders: readonly string[],
  isWanted: (line: string) => boolean,
): Promise<string[]> => {
  const found: string[] = [];
  for (const folder of folders) {
    const files = await readdir(join(dataDir, folder), { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      const lines = (await readFile(join(file.parentPath, file.name), 'utf8')).split('\n');
      found.push(...lines.filter(isWanted).map((line) => `${file.name}: ${line}`));
    }
  }
  return found;
};
