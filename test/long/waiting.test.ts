import { expect, test } from '@jest/globals';
import { measureApart } from '../../bench/simulated/apart.ts';

test('finished tasks are seen and free permits are used in the time that docs/performance.md allows', async () => {
  const { results } = await measureApart('waiting', true);

  expect(results.filter(({ ok }) => !ok)).toEqual([]);
});
