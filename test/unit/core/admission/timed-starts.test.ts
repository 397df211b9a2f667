import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { putQueueEntry } from '../../../../core/admission/queue-entries.ts';
import { farthestStartMs, HORIZON_MS, hasRoom } from '../../../../core/admission/route-limit-rules.ts';
import { postponeStarts, takePermit, takePermitFor } from '../../../../core/admission/route-limits.ts';
import { routeLimitKey } from '../../../../core/table/keys.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { at, RouteUnderTest } from './a-route.ts';

describe.each([[{ maxRunning: 2 }], [{ requestsPerSecond: 1 }], [{ requestsPerSecond: 0.1 }]])(
  'a start that a clock an hour ahead has set, with %j',
  (limits) => {
    const ahead = async (route: RouteUnderTest): Promise<void> => {
      const nextStartMs = route.clock.now().getTime() + 3_600_000;
      memory.put(routeLimitKey(route.limit.name), { used: 0, nextStartMs });
    };

    test.each([
      ['counts', 0, false],
      ['no longer counts', 1, true],
    ])('%s %i ms after the latest that a right clock can set', (_, laterMs, isPast) =>
      at(limits, async (route) => {
        const nowMs = route.clock.now().getTime();
        const nextStartMs = farthestStartMs(route.limit, nowMs) + laterMs;
        memory.put(routeLimitKey(route.limit.name), { used: 0, nextStartMs });
        const state = await route.state();

        expect(hasRoom(route.limit, state, 1, nowMs)).toBe(isPast);
        await postponeStarts(route.limit, nowMs + 10, route.clock.now());
        expect((await route.state()).nextStartMs).toBe(isPast ? nowMs + 10 : nextStartMs);
        memory.put(routeLimitKey(route.limit.name), { used: 0, nextStartMs });
        expect(await route.take('a1')).toBe(isPast ? 'taken' : 'refused');
      }),
    );

    test('counts as past for a newcomer', () =>
      at(limits, async (route) => {
        await ahead(route);

        expect(await route.take('a1')).toBe('taken');
      }));

    test('counts as past for a request that waits', () =>
      at(limits, async (route) => {
        await route.wait('b1');
        memory.patch(routeLimitKey(route.limit.name), {
          nextStartMs: route.clock.now().getTime() + 3_600_000,
        });
        const state = await route.state();

        expect(hasRoom(route.limit, state, 1, route.clock.now().getTime())).toBe(true);
        const taken = await takePermitFor(route.limit, route.queued('b1'), state, route.clock.now());
        expect(taken?.permits.get('b1')?.startMs).toBeUndefined();
      }));

    test('gives way to a pause that the provider asks for', () =>
      at(limits, async (route) => {
        await ahead(route);
        const untilMs = route.clock.now().getTime() + 30_000;
        await postponeStarts(route.limit, untilMs, route.clock.now());

        expect((await route.state()).nextStartMs).toBe(untilMs);
      }));
  },
);

describe('where starts are limited', () => {
  const entrant = (id: string, starts = 1) => ({ requestId: id, accountId: 'a', weight: 1, starts });

  test('each start has its time, up to five seconds ahead', () =>
    at({ requestsPerSecond: 2 }, async (route) => {
      const take = (id: string, starts?: number) =>
        takePermit(route.limit, entrant(id, starts), route.clock.now());
      const startOf = async (id: string, starts?: number) => {
        const taken = await take(id, starts);
        const nowMs = route.clock.now().getTime();
        return taken && (taken.permit.startMs ?? nowMs) - nowMs;
      };

      expect(await startOf('a1')).toBe(0);
      expect(await startOf('a2', 3)).toBe(500);
      expect(await startOf('a3')).toBe(2_000);
      expect(await startOf('a4', 5)).toBe(2_500);
      expect(await startOf('a5')).toBe(5_000);
      expect(await startOf('a6')).toBeUndefined();
      route.clock.advance(0.5);
      expect(await startOf('a6')).toBe(5_000);
      expect((await route.state()).permits.size).toBe(0);
    }));

  test('a newcomer that is wrong four times about the next start queues', () =>
    at({ requestsPerSecond: 1 }, async (route) => {
      let isTooEarly = false;
      memory.beforeCall = () => {
        isTooEarly = !isTooEarly;
        const nextStartMs = route.clock.now().getTime() + (isTooEarly ? 100 : -100);
        memory.put(routeLimitKey(route.limit.name), { nextStartMs });
      };

      expect(await takePermit(route.limit, entrant('a1'), route.clock.now())).toBeUndefined();
      expect(memory.calls()).toEqual({ UpdateCommand: 4 });
    }));

  test('a newcomer whose start others put off beyond five seconds meanwhile queues', () =>
    at({ requestsPerSecond: 1 }, async (route) => {
      const startsIn = [1_000, HORIZON_MS + 1];
      memory.beforeCall = () => {
        const nextStartMs = route.clock.now().getTime() + (startsIn.shift() ?? 0);
        memory.put(routeLimitKey(route.limit.name), { nextStartMs });
      };

      expect(await takePermit(route.limit, entrant('a1'), route.clock.now())).toBeUndefined();
      expect(startsIn).toEqual([]);
    }));

  test('starts of newcomers and of requests that waited are never more than the rate from any start on', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({ afterMs: fc.nat(3_000), starts: fc.integer({ min: 1, max: 15 }), waits: fc.boolean() }),
          { maxLength: 40 },
        ),
        fc.integer({ min: 1, max: 25 }),
        async (arrivals, requestsPerSecond) => {
          memory.reset();
          const route = new RouteUnderTest({ requestsPerSecond });
          const starts: number[] = [];
          for (const [index, arrival] of arrivals.entries()) {
            route.clock.advance(arrival.afterMs / 1000);
            const now = route.clock.now();
            const state = await route.state();
            const entry = { ...route.queued(`a${index}`), starts: arrival.starts };
            if (arrival.waits) await putQueueEntry(route.limit.name, entry, now);
            const permit = arrival.waits
              ? hasRoom(route.limit, state, 1, now.getTime()) &&
                (await takePermitFor(route.limit, entry, state, now))?.permits.get(entry.requestId)
              : (await takePermit(route.limit, entry, now))?.permit;
            if (!permit) continue;
            const { startMs = now.getTime() } = permit;
            if (startMs > now.getTime() + HORIZON_MS) throw new Error('It starts too late.');
            for (let call = 0; call < arrival.starts; call++)
              starts.push(startMs + (call * 1000) / requestsPerSecond);
          }
          const gaps = starts.slice(1).map((startMs, index) => startMs - (starts[index] ?? 0));
          expect(Math.min(...gaps, 1000 / requestsPerSecond)).toBeCloseTo(1000 / requestsPerSecond);
        },
      ),
      { numRuns: 40 },
    ));

  test('all that start within five seconds are admitted at once', () =>
    at({ requestsPerSecond: 2 }, async (route) => {
      const ids = Array.from({ length: 14 }, (_, index) => `a${10 + index}`);
      for (const [index, id] of ids.entries()) await route.wait(id, { seconds: index });
      await route.tick();

      expect(route.woken).toEqual(ids.slice(0, 11));
    }));

  test('a request that waited does not shorten a pause that the provider asked for meanwhile', () =>
    at({ requestsPerSecond: 2 }, async (route) => {
      for (let index = 0; index < 3; index++) await route.take(`a${index}`);
      await route.wait('b1');
      const seen = await route.state();
      const untilMs = route.clock.now().getTime() + 60_000;
      await postponeStarts(route.limit, untilMs, route.clock.now());

      expect(await takePermitFor(route.limit, route.queued('b1'), seen, route.clock.now())).toBeUndefined();
      expect((await route.state()).nextStartMs).toBe(untilMs);
    }));

  test('a request whose turn comes has a permit until it starts', () =>
    at({ requestsPerSecond: 2 }, async (route) => {
      for (let index = 0; index < 11; index++) await route.take(`a${index}`);
      await route.wait('b1');
      await route.wait('c1');
      await route.tick();
      expect(route.woken).toEqual([]);
      route.clock.advance(0.5);
      await route.tick();

      expect(route.woken).toEqual(['b1']);
      const taken = await takePermit(route.limit, { ...entrant('b1'), accountId: 'b' }, route.clock.now());
      const startMs = route.clock.now().getTime() + 5_000;
      expect(taken).toMatchObject({ isNew: false, permit: { startMs } });
      await route.leave('b1');
      expect((await route.state()).used).toBe(0);
    }));
});
