import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import type { Part } from '../../bench/results.ts';

const MEASURE = new URL('../../bench/costs/measure.ts', import.meta.url);
/** In a process of its own, as the simulation replaces clock, timers and network. */
const SCRIPT = `const { measureCosts } = await import(${JSON.stringify(MEASURE)});
console.log(JSON.stringify(await measureCosts()));`;

test('a request takes the write units and transitions of docs/performance.md', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', SCRIPT]);
  const { results } = JSON.parse(stdout) as Part;
  const counts = results.filter(({ unit }) => unit === 'units' || unit === 'transitions');

  expect(counts.map(({ name, value }) => [name, value])).toEqual([
    ['image: write units of the creation', 12],
    ['image: write units, creation to removal, without its reads', 28],
    ['image: transitions', 4],
    ['video by callback: write units of the creation', 12],
    ['video by callback: write units, creation to removal, without its reads', 37],
    ['video by callback: transitions', 6],
  ]);
  expect(results.filter(({ ok }) => !ok)).toEqual([]);
});
