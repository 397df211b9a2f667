import { expect, test } from '@jest/globals';
import { LISTS, measurePages } from '../../../bench/lists/measure.ts';

test('a late page reads at most as much more than page 1 as docs/performance.md says', async () => {
  const lists = LISTS.filter(({ name }) =>
    ['generations of an end-user', 'generations, succeeded', 'end-users, blocked'].includes(name),
  );
  const { results } = await measurePages(4_000, lists);
  const held = results.filter(({ budget }) => budget !== null);

  expect(held.map(({ name }) => name)).toEqual(
    lists.flatMap(({ name }) => [`${name}: page 100`, `${name}: last page`]),
  );
  // At most 1,000 entries are read on the way, besides counts: the length of a list adds next to nothing.
  for (const { value } of held) expect(value).toBeLessThanOrEqual(2.2);
});
