import '../../builders/environment.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { leaveAllGates, leaveGate } from '../../../../core/admission/admission.ts';
import { removeWaiter } from '../../../../core/admission/waiters.ts';
import { gateWaiterKey, requestKey, waitingAccountKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { anImageRequest } from '../../builders/entities.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';
import { MODEL, RouteUnderTest, withLimits } from './a-route.ts';

const memory = new MemoryTable(table);
beforeEach(() => memory.reset());

/** Runs with a route of these limits. */
const at = (
  limits: { maxRunning?: number; requestsPerSecond?: number },
  run: (route: RouteUnderTest) => Promise<void>,
) => withLimits(limits, () => run(new RouteUnderTest(memory, limits)));

/** `a1` has the only permit, and these wait, the first for longest. */
const waitInTurn = async (route: RouteUnderTest, ...ids: string[]): Promise<void> => {
  await route.take('a1');
  for (const id of ids) {
    await route.wait(id);
    route.clock.advance(1);
  }
};

describe('a request that waits', () => {
  test('is woken by the one that gives its permit back, and has the permit', () =>
    at({ maxRunning: 1 }, async (route) => {
      await route.take('a1');
      expect(await route.take('b1')).toBe('refused');
      await route.wait('b1');
      expect(route.woken).toEqual([]);
      await route.leave('a1');

      expect(route.woken).toEqual(['b1']);
      expect(await route.take('b1')).toBe('held');
      await route.leave('b1');
      expect(await route.state()).toMatchObject({ used: 0, queued: undefined });
      expect(route.queue()).toEqual([]);
    }));

  test('is let in at once when the permit was freed before it was seen to wait', () =>
    at({ maxRunning: 1 }, async (route) => {
      await route.take('a1');
      await route.take('b1');
      await route.leave('a1');
      await route.wait('b1');

      expect(route.woken).toEqual(['b1']);
    }));

  test('is followed by the oldest of its account, whoever was refused first', () =>
    at({ maxRunning: 1 }, async (route) => {
      await route.take('z1');
      for (const [id, seconds] of [
        ['a2', 20],
        ['a1', 10],
        ['a3', 30],
      ] as const)
        await route.wait(id, { seconds });
      for (const id of ['z1', 'a1', 'a2', 'a3']) await route.leave(id);

      expect(route.woken).toEqual(['a1', 'a2', 'a3']);
      expect(route.queue()).toEqual([]);
    }));

  test('of another account comes before the thousand of the first', () =>
    at({ maxRunning: 2 }, async (route) => {
      await route.take('a1');
      await route.take('a2');
      for (const id of ['a3', 'a4', 'a5']) await route.wait(id);
      route.clock.advance(1);
      await route.wait('b1');
      await route.leave('a1');
      await route.leave('a2');

      expect(route.woken).toEqual(['b1', 'a3']);
    }));

  test('has its turn among accounts with one request each, though new ones keep coming', () =>
    at({ maxRunning: 1 }, async (route) => {
      await route.take('a1');
      await route.wait('c1');
      route.clock.advance(1);
      await route.wait('b1');
      await route.leave('a1');
      route.clock.advance(1);
      await route.wait('a2');
      await route.leave('c1');

      expect(route.woken).toEqual(['c1', 'b1']);
    }));

  test('comes after those of all accounts that waited when its own gave its last permit back', () =>
    at({ maxRunning: 1 }, async (route) => {
      await route.take('a1');
      for (const id of ['a2', 'b1', 'c1']) {
        await route.wait(id);
        route.clock.advance(1);
      }
      for (const id of ['a1', 'b1', 'c1']) await route.leave(id);

      expect(route.woken).toEqual(['b1', 'c1', 'a2']);
    }));

  test('wakes nobody else: one permit lets one in', () =>
    at({ maxRunning: 2 }, async (route) => {
      await route.take('a1');
      await route.take('a2');
      for (const id of ['b1', 'c1', 'd1']) await route.wait(id);
      await route.leave('a1');

      expect(route.woken).toHaveLength(1);
      expect((await route.state()).used).toBe(2);
    }));

  test('with many calls lets nobody pass until there is room for all of them', () =>
    at({ maxRunning: 3 }, async (route) => {
      for (const id of ['a1', 'a2', 'a3']) await route.take(id);
      await route.wait('b1', { weight: 2 });
      route.clock.advance(1);
      await route.wait('c1');
      await route.leave('a1');
      expect(route.woken).toEqual([]);
      await route.leave('a2');

      expect(route.woken).toEqual(['b1']);
    }));

  test('with more calls than the gate has permits by now takes what there is', () =>
    at({ maxRunning: 2 }, async (route) => {
      await route.wait('b1', { weight: 5 });

      expect(route.woken).toEqual(['b1']);
      expect((await route.state()).used).toBe(2);
    }));

  test('and ends unseen is passed over, and its permit goes to the next', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1', 'c1', 'd1');
      for (const id of ['b1', 'c1']) route.gone.add(`${id}/0`);
      memory.patch(requestKey('b1'), { status: 'failed' });
      memory.remove(requestKey('c1'));
      await route.leave('a1');

      expect(route.woken).toEqual(['d1']);
      expect(await route.holders()).toEqual(['d1']);
    }));

  test('and whose execution is lost keeps the permit until it has ended, and is looked at', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1', 'c1');
      route.gone.add('b1/0');
      await route.leave('a1');
      expect(route.woken).toEqual([]);
      expect(await route.holders()).toEqual(['b1']);
      expect(memory.get(requestKey('b1'))).toMatchObject({ GSI1SK: route.clock.now().toISOString() });
      memory.patch(requestKey('b1'), { status: 'failed' });
      await route.leave('b1');

      expect(route.woken).toEqual(['c1']);
    }));

  test('and whose time in the queue runs out while it is woken keeps the permit that it calls with', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1', 'c1');
      const wake = async (taskToken: string) => {
        if (taskToken !== 'b1/0' || route.gone.has(taskToken)) return route.wake(taskToken);
        // Step Functions answers late: the wait has timed out, and the request is dispatched.
        route.gone.add(taskToken);
        expect(await route.take('b1')).toBe('held');
        memory.patch(requestKey('b1'), { status: 'processing' });
        return false;
      };
      await leaveGate(route.gate.name, route.waiter('a1'), wake, route.clock);
      expect(await route.holders()).toEqual(['b1']);
      expect(route.queue()).not.toContain(gateWaiterKey(route.gate.name, route.waiter('b1')).SK);
      expect(route.woken).toEqual([]);
      await route.leave('b1');

      expect(route.woken).toEqual(['c1']);
    }));

  test('and begins to wait anew while it is woken in vain goes on at once with the permit it was given', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1');
      route.gone.add('b1/0');
      await route.leave('a1');
      expect(route.woken).toEqual([]);
      await route.wait('b1', { entry: 1 });

      expect(route.woken).toEqual(['b1']);
      expect(await route.holders()).toEqual(['b1']);
      expect(route.queue()).toEqual(['ACCOUNT#b']);
    }));

  test('is woken under its newest token', () =>
    at({ maxRunning: 1 }, async (route) => {
      await route.take('a1');
      await route.wait('b1', { entry: 2 });
      await route.wait('b1', { entry: 1 });
      expect(memory.get(gateWaiterKey(route.gate.name, route.waiter('b1')))).toMatchObject({
        taskToken: 'b1/2',
      });
      await route.leave('a1');

      expect(route.woken).toEqual(['b1']);
      expect(route.queue()).toEqual(['ACCOUNT#b']);
    }));

  test('is read once for the decision that picks it, with the one after it', () =>
    at({ maxRunning: 1 }, async (route) => {
      await route.take('a1');
      for (let index = 0; index < 20; index++) await route.wait(`b${index + 10}`, { seconds: index });
      memory.client.resetHistory();
      await route.leave('a1');

      expect(memory.calls()).toEqual({ UpdateCommand: 4, QueryCommand: 2, DeleteCommand: 1 });
    }));

  test('that failed leaves the queue and gives back what its record does not tell', () =>
    at({ maxRunning: 1 }, async (route) => {
      await route.take('a1');
      await route.wait('b1');
      const ended = (id: string) => ({
        ...anImageRequest({ model: MODEL, status: 'failed' }),
        ...route.waiter(id),
      });
      await leaveAllGates(ended('b1'), route.wake, route.clock);
      expect(route.queue()).toEqual(['ACCOUNT#b']);
      await leaveAllGates(ended('a1'), route.wake, route.clock);

      expect(await route.state()).toMatchObject({ used: 0, queued: undefined });
      expect(route.queue()).toEqual([]);
      expect(route.woken).toEqual([]);
    }));
});

test('an account that left is not removed when one of its requests began to wait since', () =>
  at({ maxRunning: 1 }, async (route) => {
    await route.take('a1');
    await route.wait('b1');
    route.gone.add('b1/0');
    await removeWaiter(route.gate.name, route.waiter('b1'));
    const remove = memory.beforeCall;
    let calls = 0;
    memory.beforeCall = async () => {
      // Between the query for its requests and the removal of the account.
      if (++calls !== 4) return remove();
      memory.beforeCall = remove;
      await route.wait('b2');
    };
    await route.leave('a1');

    expect(route.woken).toEqual(['b2']);
    expect(memory.get(waitingAccountKey(route.gate.name, 'b'))).toBeDefined();
  }));
