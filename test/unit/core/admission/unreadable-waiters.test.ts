import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { readGates } from '../../../../core/admission/gates.ts';
import { logger } from '../../../../core/observability.ts';
import { gateKey, gateWaiterKey, waitingAccountKey } from '../../../../core/table/keys.ts';
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

const spoilWaiter = (route: RouteUnderTest, id: string): string => {
  const key = gateWaiterKey(route.gate.name, route.waiter(id));
  memory.patch(key, { taskToken: 7 });
  return `${key.PK} ${key.SK}`;
};

describe('a waiting request that cannot be read', () => {
  test('is passed over: those behind it, of its account and of others, are let in', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1', 'b2', 'c1');
      const broken = spoilWaiter(route, 'b1');
      await route.leaveThenTick('a1');
      await route.leaveThenTick('b2');

      expect(route.woken).toEqual(['b2', 'c1']);
      expect(unread()).toEqual([broken]);
      expect(route.queue().filter((sort) => sort.startsWith('WAITER#'))).toEqual([
        gateWaiterKey(route.gate.name, route.waiter('b1')).SK,
      ]);
    }));

  test('keeps its account in the queue while it waits, so that a version that can read it lets it in', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1');
      spoilWaiter(route, 'b1');
      await route.leaveThenTick('a1');
      expect(route.woken).toEqual([]);

      memory.patch(gateWaiterKey(route.gate.name, route.waiter('b1')), { taskToken: 'b1/0' });
      await route.tick();
      expect(route.woken).toEqual(['b1']);
      await route.leaveThenTick('b1');
      await route.tick();
      expect(route.queue()).toEqual([]);
      expect(await route.state()).toMatchObject({ used: 0, queued: undefined });
    }));
});

describe('a waiting account that cannot be read', () => {
  test('holds up no other, and is let in again once another of its requests begins to wait', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1', 'c1');
      const key = waitingAccountKey(route.gate.name, 'b');
      memory.patch(key, { touched: null });
      await route.leaveThenTick('a1');
      expect(route.woken).toEqual(['c1']);
      expect(unread()).toEqual([`${key.PK} ${key.SK}`]);

      await route.wait('b2');
      await route.leaveThenTick('c1');
      expect(route.woken).toEqual(['c1', 'b1']);
    }));

  test('is let in, if only the time of its last turn cannot be read', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1');
      memory.patch(waitingAccountKey(route.gate.name, 'b'), { servedAt: 12 });
      await route.leaveThenTick('a1');

      expect(route.woken).toEqual(['b1']);
    }));
});

describe('a permit that cannot be read', () => {
  const spoilPermit = (route: RouteUnderTest, id: string) =>
    memory.patch(gateKey(route.gate.name), { [`permit#${id}`]: { accountId: 'a', weight: 1 } });

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
      expect(unread()).toEqual([`${gateKey(route.gate.name).PK} permit#a1`]);
    }));
});

test('A gate that cannot be read is left out, and the others are read', async () => {
  memory.put(gateKey('broken#0'), { used: 'two' });
  memory.put(gateKey('whole#0'), { used: 2 });

  const states = await readGates(['broken#0', 'none#0', 'whole#0']);

  expect(states.map((state) => state?.used)).toEqual([undefined, 0, 2]);
  expect(unread()).toEqual([gateKey('broken#0').PK]);
});
