import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const REFUSAL = /AccessDenied|is not authorized to perform/;

/**
 * Every line in which a local run noted that a role of the template did not allow a call: in the logs of its
 * functions and in the histories of its executions.
 */
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
