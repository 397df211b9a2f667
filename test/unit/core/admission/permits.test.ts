import { describe, expect, test } from '@jest/globals';
import { leaveNamedRoutes, releasePermit, returnPermit } from '../../../../core/admission/admission.ts';
import { postponeStarts, takePermitFor } from '../../../../core/admission/route-limits.ts';
import { queueEntryKey, routeLimitKey } from '../../../../core/table/keys.ts';
import { anImageRequest } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { at, type RouteUnderTest } from './a-route.ts';

describe('a permit', () => {
  test('is taken while there is room, by one update', () =>
    at({ maxRunning: 2 }, async (route) => {
      expect(await route.take('a1')).toBe('taken');
      expect(await route.take('a2')).toBe('taken');
      expect(memory.calls()).toEqual({ UpdateCommand: 2 });
      expect(await route.take('a3')).toBe('refused');
      expect(memory.calls()).toEqual({ UpdateCommand: 3 });
      expect(await route.holders()).toEqual(['a1', 'a2']);
    }));

  test('that is too far off in time is refused by one update', () =>
    at({ requestsPerSecond: 1 }, async (route) => {
      let taken = 0;
      while ((await route.take(`a${taken}`)) === 'taken') taken++;
      const { UpdateCommand: before = 0 } = memory.calls();

      expect(await route.take('b1')).toBe('refused');
      expect((memory.calls().UpdateCommand ?? 0) - before).toBe(1);
    }));

  test.each([
    ['waits under a newer token', async (route: RouteUnderTest) => route.wait('b1', { entry: 1 })],
    [
      'was admitted by another run',
      async (route: RouteUnderTest) => {
        await takePermitFor(route.limit, route.queued('b1'), await route.state(), route.clock.now());
        await route.leave('b1');
      },
    ],
  ])('is not taken for a waiting request that %s', (_, meanwhile) =>
    at({ maxRunning: 2 }, async (route) => {
      await route.take('a1');
      await route.take('a2');
      await route.wait('b1');
      const seen = route.queued('b1');
      await route.leave('a1');
      await meanwhile(route);

      expect(await takePermitFor(route.limit, seen, await route.state(), route.clock.now())).toBeUndefined();
      expect(await route.holders()).toEqual(['a2']);
    }),
  );

  test('is taken once, however often it is asked for', () =>
    at({ maxRunning: 2 }, async (route) => {
      await route.take('a1');

      expect(await route.take('a1')).toBe('held');
      expect((await route.state()).used).toBe(1);
    }));

  test('of several calls needs room for all', () =>
    at({ maxRunning: 5 }, async (route) => {
      expect(await route.take('a1', 3)).toBe('taken');
      expect(await route.take('a2', 3)).toBe('refused');
      expect(await route.take('a3', 2)).toBe('taken');
      expect((await route.state()).used).toBe(5);
    }));

  test('is given back once, by one update while nobody waits', () =>
    at({ maxRunning: 2 }, async (route) => {
      await route.take('a1');
      await route.take('b1', 1);
      await route.leave('a1');
      await route.leave('a1');

      expect(memory.calls()).toEqual({ UpdateCommand: 4 });
      expect(await route.state()).toMatchObject({ used: 1, queued: undefined });
    }));

  test('of a request that ended is given back once the request has left the queue: its turn must not come', () =>
    at({ maxRunning: 1 }, async (route) => {
      await route.take('a1');
      await route.wait('a1');
      const waitsWithout: boolean[] = [];
      memory.beforeCall = () => {
        const isFree = memory.get(routeLimitKey(route.limit.name))?.used === 0;
        const sort = queueEntryKey(route.limit.name, route.queued('a1')).SK;
        waitsWithout.push(isFree && route.queue().includes(sort));
      };

      expect(await leaveNamedRoutes(route.queued('a1'), [route.limit.name], route.clock)).toBe(true);

      expect(waitsWithout).not.toContain(true);
      expect([memory.get(routeLimitKey(route.limit.name))?.used, waitsWithout.length]).toEqual([0, 3]);
    }));

  test('is not given back for another one that was taken later', () =>
    at({ maxRunning: 2 }, async (route) => {
      await route.take('a1');
      const { permits } = await route.state();
      const { takenMs = 0 } = permits.get('a1') ?? {};
      await releasePermit({ ...anImageRequest(), requestId: 'a1' }, route.limit.name, route.clock);
      route.clock.advance(1);
      await route.take('a1');
      await returnPermit(route.limit.name, route.queued('a1'), route.clock, takenMs);

      expect(await route.holders()).toEqual(['a1']);
    }));

  test('is refused to a newcomer while a request waits, though there is room', () =>
    at({ maxRunning: 2 }, async (route) => {
      memory.put(routeLimitKey(route.limit.name), { used: 0, queued: 'stamp' });

      expect(await route.take('a1')).toBe('refused');
    }));

  test('is not given before the pause that the provider asked for is over', () =>
    at({ maxRunning: 2 }, async (route) => {
      await postponeStarts(route.limit, route.clock.now().getTime() + 500, route.clock.now());
      await postponeStarts(route.limit, route.clock.now().getTime() + 3_000, route.clock.now());
      await postponeStarts(route.limit, route.clock.now().getTime() + 1_000, route.clock.now());
      route.clock.advance(2.9);

      expect(await route.take('a1')).toBe('refused');
      route.clock.advance(0.1);
      expect(await route.take('a1')).toBe('taken');
    }));
});
