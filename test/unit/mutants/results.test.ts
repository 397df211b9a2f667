import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import type { Planting } from '../../mutants/mutant.ts';
import { openResults } from '../../mutants/results.ts';
import type { Finding } from '../../mutants/suites.ts';

const folder = mkdtempSync(join(tmpdir(), 'results-'));
afterAll(() => rmSync(folder, { recursive: true }));

const MUTANT: Planting = { name: 'a bug', file: 'core/x.ts', plantedIn: () => 'b' };
const NOTICED: Finding = { result: 'noticed', where: '3', broken: 'a rule' };
const UNNOTICED: Finding = { result: 'unnoticed', where: '-', broken: '' };

test('findings are kept as they come, and are known to the next run', () => {
  const file = join(folder, 'kept.jsonl');
  openResults(file).add(MUTANT, 'simulation', UNNOTICED);
  const again = openResults(file);
  again.add(MUTANT, 'unit', NOTICED);

  for (const results of [again, openResults(file)]) {
    expect(results.of(MUTANT)).toEqual({ simulation: UNNOTICED, unit: NOTICED });
  }
  expect(openResults(undefined).of(MUTANT)).toEqual({});
});

test('a later finding takes the place of an earlier one', () => {
  const file = join(folder, 'later.jsonl');
  openResults(file).add(MUTANT, 'simulation', UNNOTICED);
  appendFileSync(file, `${JSON.stringify({ mutant: MUTANT.name, suite: 'simulation', ...NOTICED })}\n`);

  expect(openResults(file).of(MUTANT)).toEqual({ simulation: NOTICED });
});
