import { describe, expect, test } from '@jest/globals';
import { leaveRoutes } from '../../../../core/admission/admission.ts';
import { type DueList, dueListing, requestKey } from '../../../../core/table/keys.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { anImageRequest, REQUEST_ID } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { at, MODEL, waitInTurn } from './a-route.ts';

/** A request that has succeeded, and is listed. */
const LISTED = (list: DueList) => ({
  ...{ status: 'succeeded', expiresAt: atSeconds(90_000).toISOString() },
  ...dueListing(list, REQUEST_ID, atSeconds(60).toISOString()),
});

describe('a permit that a dispatch took after its request was closed, and died', () => {
  const close = (id: string) =>
    memory.put(requestKey(id), anImageRequest({ requestId: id, accountId: 'a', status: 'failed' }));

  test.each<[string, (id: string) => unknown]>([
    ['closed', close],
    ['closed, its files yet to expire', (id) => memory.patch(requestKey(id), LISTED('EXPIRE'))],
    ['deleted', (id) => memory.remove(requestKey(id))],
  ])('goes to the next within a minute: the request is %s', (_, end) =>
    at({ maxRunning: 2 }, async (route) => {
      await route.take('a1');
      await route.take('a2');
      await route.wait('b1');
      end('a1');
      await route.tick(29);
      expect(route.woken).toEqual([]);
      await route.tick(30);

      expect(route.woken).toEqual(['b1']);
      expect(await route.holders()).toEqual(['a2', 'b1']);
    }),
  );

  test.each<[string, (id: string) => unknown]>([
    ['is processing', (id) => memory.patch(requestKey(id), { status: 'processing' })],
    ['is being closed', (id) => memory.patch(requestKey(id), LISTED('CHECK'))],
    ['cannot be read', (id) => memory.patch(requestKey(id), { images: 'two' })],
  ])('stays where the request %s', (_, change) =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1');
      change('a1');
      await route.tick(0);

      expect(route.woken).toEqual([]);
      expect(await route.holders()).toEqual(['a1']);
    }),
  );
});

test('a request that ended leaves the routes before its last one, though its model has them no more', () =>
  at({ maxRunning: 1 }, async (route) => {
    await route.take('a1');
    const assignment = { route: 'fal/other', number: 2 };
    const formerRoutes = [route.limit.name];
    const request = anImageRequest({ model: 'xQI3Pro', status: 'failed', assignment, formerRoutes });
    await leaveRoutes({ ...request, requestId: 'a1', accountId: 'a' }, route.clock);

    expect(await route.holders()).toEqual([]);
  }));

test('a request that failed leaves the queue, and gives its permit back', () =>
  at({ maxRunning: 1 }, async (route) => {
    await waitInTurn(route, 'b1');
    const ended = (id: string) => ({
      ...anImageRequest({ model: MODEL, status: 'failed' }),
      assignment: { route: route.limit.name, number: 1 },
      ...route.queued(id),
    });
    await leaveRoutes(ended('b1'), route.clock);
    expect(route.queue()).toEqual(['ACCOUNT#b']);
    await leaveRoutes(ended('a1'), route.clock);
    for (let tick = 0; tick < 2; tick++) await route.tick();

    expect(await route.state()).toMatchObject({ used: 0, queued: undefined });
    expect(route.queue()).toEqual([]);
    expect(route.woken).toEqual([]);
  }));
