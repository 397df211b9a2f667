import { expect, test } from '@jest/globals';
import { measureApart } from '../../bench/simulated/apart.ts';

test('a request of each default route costs what docs/performance.md says', async () => {
  const { results } = await measureApart('costs');
  const figureOf = (name: string): number | undefined =>
    results.find((result) => result.name === name)?.value;

  expect(figureOf('video, polled, 180 s: transitions of the generation')).toBe(6);
  expect(figureOf('image, polled, 18 s: transitions of the generation')).toBe(6);
  expect(figureOf('image, synchronous, 15 s: transitions of the generation')).toBe(4);
  expect(results.filter(({ ok }) => !ok)).toEqual([]);
});
