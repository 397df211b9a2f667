import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { reportOf } from '../../bench/report.ts';
import type { Part } from '../../bench/results.ts';
import { measureApart } from '../../bench/simulated/apart.ts';

const textOf = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
const PUBLISHED = (JSON.parse(textOf('../../bench/results.json')) as { costs: Part }).costs;
/** What a figure may differ from the published one before `npm run bench -- costs` is due. */
const TOLERANCE = 0.05;

test('a request of each default route costs what docs/performance.md says', async () => {
  const { results } = await measureApart('costs');
  const figureOf = (name: string): number | undefined =>
    results.find((result) => result.name === name)?.value;

  expect(figureOf('video, polled, 180 s: transitions of the generation')).toBe(6);
  expect(figureOf('image, polled, 18 s: transitions of the generation')).toBe(6);
  expect(figureOf('image, synchronous, 15 s: transitions of the generation')).toBe(4);
  expect(results.filter(({ ok }) => !ok)).toEqual([]);
  const differing = PUBLISHED.results.filter(({ name, value, budget }) => {
    const now = figureOf(name) ?? Number.NaN;
    return budget !== null && !(Math.abs(now - value) <= Math.max(TOLERANCE * value, 0.001));
  });
  expect(differing).toEqual([]);
  expect(textOf('../../docs/performance.md')).toContain(reportOf(PUBLISHED));
});
