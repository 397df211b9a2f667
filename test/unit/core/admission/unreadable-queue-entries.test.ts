import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { readRouteLimits } from '../../../../core/admission/route-limits.ts';
import { logger } from '../../../../core/observability.ts';
import { queueEntryKey, routeLimitKey, waitingAccountKey } from '../../../../core/table/keys.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { at, type RouteUnderTest, waitInTurn } from './a-route.ts';

const error = jest.spyOn(logger, 'error');
beforeEach(() => {
  error.mockReset();
});
/** The items that were logged as unreadable. */
const unread = (): unknown[] => [
  ...new Set(error.mock.calls.map(([, logged]) => (logged as { item: string }).item)),
];

const spoilEntry = (route: RouteUnderTest, id: string): string => {
  const key = queueEntryKey(route.limit.name, route.queued(id));
  memory.patch(key, { taskToken: 7 });
  return `${key.PK} ${key.SK}`;
};

describe('a waiting request that cannot be read', () => {
  test('is passed over: those behind it, of its account and of others, are admitted', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1', 'b2', 'c1');
      const broken = spoilEntry(route, 'b1');
      await route.leaveThenTick('a1');
      await route.leaveThenTick('b2');

      expect(route.woken).toEqual(['b2', 'c1']);
      expect(unread()).toEqual([broken]);
      expect(route.queue().filter((sort) => sort.startsWith('QUEUED#'))).toEqual([
        queueEntryKey(route.limit.name, route.queued('b1')).SK,
      ]);
    }));

  test('keeps its account in the queue while it waits, so that a version that can read it admits it', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1');
      spoilEntry(route, 'b1');
      await route.leaveThenTick('a1');
      expect(route.woken).toEqual([]);

      memory.patch(queueEntryKey(route.limit.name, route.queued('b1')), { taskToken: 'b1/0' });
      await route.tick();
      expect(route.woken).toEqual(['b1']);
      await route.leaveThenTick('b1');
      await route.tick();
      expect(route.queue()).toEqual([]);
      expect(await route.state()).toMatchObject({ used: 0, queued: undefined });
    }));
});

describe('a waiting account that cannot be read', () => {
  test('holds up no other, and is admitted again once another of its requests begins to wait', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1', 'c1');
      const key = waitingAccountKey(route.limit.name, 'b');
      memory.patch(key, { touched: null });
      await route.leaveThenTick('a1');
      expect(route.woken).toEqual(['c1']);
      expect(unread()).toEqual([`${key.PK} ${key.SK}`]);

      await route.wait('b2');
      await route.leaveThenTick('c1');
      expect(route.woken).toEqual(['c1', 'b1']);
    }));

  test('is admitted, if only the time of its last turn cannot be read', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1');
      memory.patch(waitingAccountKey(route.limit.name, 'b'), { servedAt: 12 });
      await route.leaveThenTick('a1');

      expect(route.woken).toEqual(['b1']);
    }));
});

describe('a permit that cannot be read', () => {
  const spoilPermit = (route: RouteUnderTest, id: string) =>
    memory.patch(routeLimitKey(route.limit.name), { [`permit#${id}`]: { accountId: 'a', weight: 1 } });

  test('keeps its room until its request gives it back, and holds up nobody', () =>
    at({ maxRunning: 2 }, async (route) => {
      await route.take('a1');
      await route.take('a2');
      spoilPermit(route, 'a1');
      await route.wait('b1');
      await route.leaveThenTick('a2');
      expect(route.woken).toEqual(['b1']);
      expect(await route.state()).toMatchObject({ used: 2, unreadable: new Set(['a1']) });

      await route.wait('c1');
      await route.tick();
      expect(route.woken).toEqual(['b1']);
      await route.leaveThenTick('a1');
      expect(route.woken).toEqual(['b1', 'c1']);
    }));

  test('of a request that waits beside it lets the other accounts pass', () =>
    at({ maxRunning: 2 }, async (route) => {
      await route.take('a1');
      spoilPermit(route, 'a1');
      await route.wait('a1');
      await route.wait('b1');
      await route.tick();

      expect(route.woken).toEqual(['b1']);
      expect(unread()).toEqual([`${routeLimitKey(route.limit.name).PK} permit#a1`]);
    }));
});

test('A route limit that cannot be read is skipped, and the others are read', async () => {
  memory.put(routeLimitKey('broken#0'), { used: 'two' });
  memory.put(routeLimitKey('whole#0'), { used: 2 });

  const states = await readRouteLimits(['broken#0', 'none#0', 'whole#0']);

  expect(states.map((state) => state?.used)).toEqual([undefined, 0, 2]);
  expect(unread()).toEqual([routeLimitKey('broken#0').PK]);
});
