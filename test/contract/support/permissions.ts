import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const REFUSAL = /AccessDenied|is not authorized to perform/;

/** Every line of a local run's function logs and execution histories that reports a call denied to its role. */
export const refusedCalls = async (dataDir: string): Promise<string[]> => {
  const refused: string[] = [];
  for (const folder of ['logs', 'executions']) {
    const files = await readdir(join(dataDir, folder), { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      const lines = (await readFile(join(file.parentPath, file.name), 'utf8')).split('\n');
      refused.push(...lines.filter((line) => REFUSAL.test(line)).map((line) => `${file.name}: ${line}`));
    }
  }
  return refused;
};
