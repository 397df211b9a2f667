import { expect, test } from '@jest/globals';
import { measureApart } from '../../bench/simulated/apart.ts';

test('finished tasks are seen and free permits are used in the time that docs/performance.md allows', async () => {
  const { results } = await measureApart('waiting', true);

  expect(results.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual([
    'videos, 30 to 600 s: seen, p50, of what is allowed',
    'videos, 30 to 600 s: seen, p95, of what is allowed',
    'videos, 30 to 600 s: seen, worst, of what is allowed',
    'images, 5 to 60 s, 10 at once: seen, p50, of what is allowed',
    'images, 5 to 60 s, 10 at once: seen, p95, of what is allowed',
    'images, 5 to 60 s, 10 at once: seen, worst, of what is allowed',
    'images, 50 at once: queries of the account in a second, most',
  ]);
});
