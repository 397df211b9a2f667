import { expect, test } from '@jest/globals';
import { startWith } from '../../../../core/admission/admission.ts';
import { anImageRequest } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { at } from './a-route.ts';

test.each([
  ['a new start at a route with a rate alone, of which nothing is stored', { requestsPerSecond: 1 }, true, 0],
  [
    'the permit with which a request was admitted to such a route: it has begun',
    { requestsPerSecond: 1 },
    false,
    1,
  ],
  ['a new permit of a route with a limit of running calls', { maxRunning: 1 }, true, 0],
  ['the permit with which a request was admitted to such a route', { maxRunning: 1 }, false, 0],
])('%s costs a write or not: with %j, new: %p, %p', (_, limits, isNew, writes) =>
  at(limits, async ({ limit, clock }) => {
    const permit = { accountId: 'a', weight: 1, takenMs: clock.now().getTime() };

    await startWith(anImageRequest(), { limit, permit, isNew }, clock);

    expect(memory.calls().UpdateCommand ?? 0).toBe(writes);
  }),
);
