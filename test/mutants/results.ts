import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Planting } from './mutant.ts';
import type { Findings } from './report.ts';
import type { Finding, Suite } from './suites.ts';

/** What the suites said so far. */
export interface Results<P extends Planting = Planting> {
  of(mutant: P): Findings;
  add(mutant: P, suite: Suite, finding: Finding): void;
}

interface Line extends Finding {
  mutant: string;
  suite: Suite;
}

/**
 * Keeps findings in a file with a JSON object a line, from which an interrupted run continues; in memory without a
 * file.
 */
export const openResults = (file: string | undefined): Results => {
  const found = new Map<string, Findings>();
  const keep = ({ mutant, suite, ...finding }: Line): void => {
    found.set(mutant, { ...found.get(mutant), [suite]: finding });
  };
  const text = file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : '';
  for (const line of text.split('\n').filter(Boolean)) keep(JSON.parse(line) as Line);
  if (file !== undefined) mkdirSync(dirname(file), { recursive: true });
  return {
    of: ({ name }) => found.get(name) ?? {},
    add: ({ name }, suite, finding) => {
      const line = { mutant: name, suite, ...finding };
      keep(line);
      if (file !== undefined) appendFileSync(file, `${JSON.stringify(line)}\n`);
    },
  };
};
