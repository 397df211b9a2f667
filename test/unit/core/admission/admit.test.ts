import { describe, expect, test } from '@jest/globals';
import { queueEntryKey, requestKey, waitingAccountKey } from '../../../../core/table/keys.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { at, waitInTurn } from './a-route.ts';

describe('the control loop', () => {
  test('wakes a waiting request once a permit is free, and the request has the permit', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1');
      await route.tick();
      expect(route.woken).toEqual([]);
      await route.leaveThenTick('a1');

      expect(route.woken).toEqual(['b1']);
      expect(await route.take('b1')).toBe('held');
      await route.leaveThenTick('b1');
      await route.tick();
      expect(await route.state()).toMatchObject({ used: 0, queued: undefined });
      expect(route.queue()).toEqual([]);
    }));

  test('keeps a queued request and its account for a day at most: requests never wait so long', () =>
    at({ maxRunning: 1 }, async (route) => {
      await route.wait('b1');

      const { name } = route.limit;
      const ttl = atSeconds(86_400).getTime() / 1000;
      expect(memory.get(waitingAccountKey(name, 'b'))).toMatchObject({ ttl });
      expect(memory.get(queueEntryKey(name, route.queued('b1')))).toMatchObject({ ttl });
    }));

  test('admits a request whose permit was freed before it began to wait', () =>
    at({ maxRunning: 1 }, async (route) => {
      await route.take('a1');
      await route.take('b1');
      await route.leave('a1');
      await route.wait('b1');
      await route.tick();

      expect(route.woken).toEqual(['b1']);
    }));

  test('admits the oldest request of an account first', () =>
    at({ maxRunning: 1 }, async (route) => {
      await route.take('z1');
      for (const [id, seconds] of [
        ['a2', 20],
        ['a1', 10],
        ['a3', 30],
      ] as const)
        await route.wait(id, { seconds });
      for (const id of ['z1', 'a1', 'a2', 'a3']) await route.leaveThenTick(id);
      await route.tick();

      expect(route.woken).toEqual(['a1', 'a2', 'a3']);
      expect(route.queue()).toEqual([]);
    }));

  test('admits another account before the further requests of the first', () =>
    at({ maxRunning: 2 }, async (route) => {
      await route.take('a1');
      await route.take('a2');
      for (const id of ['a3', 'a4', 'a5']) await route.wait(id);
      route.clock.advance(1);
      await route.wait('b1');
      await route.leaveThenTick('a1');
      await route.leaveThenTick('a2');

      expect(route.woken).toEqual(['b1', 'a3']);
    }));

  test('gives each account its turn, though new requests of others keep coming', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'c1', 'b1');
      await route.leaveThenTick('a1');
      route.clock.advance(1);
      await route.wait('a2');
      await route.leaveThenTick('c1');

      expect(route.woken).toEqual(['c1', 'b1']);
    }));

  test('counts an account as served when it gives a permit back', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'a2', 'b1', 'c1');
      for (const id of ['a1', 'b1', 'c1']) await route.leaveThenTick(id);

      expect(route.woken).toEqual(['b1', 'c1', 'a2']);
    }));

  test('fills all free permits in one tick, in turn', () =>
    at({ maxRunning: 3 }, async (route) => {
      for (const id of ['a1', 'a2', 'a3']) await route.take(id);
      for (const id of ['b1', 'b2', 'c1', 'd1']) {
        await route.wait(id);
        route.clock.advance(1);
      }
      for (const id of ['a1', 'a2', 'a3']) await route.leave(id);
      await route.tick();

      expect(route.woken).toEqual(['b1', 'c1', 'd1']);
      expect((await route.state()).used).toBe(3);
    }));

  test('waits for enough room for a request with many calls', () =>
    at({ maxRunning: 3 }, async (route) => {
      for (const id of ['a1', 'a2', 'a3']) await route.take(id);
      await route.wait('b1', { weight: 2 });
      route.clock.advance(1);
      await route.wait('c1');
      memory.client.resetHistory();
      await route.leaveThenTick('a1');
      expect(route.woken).toEqual([]);
      // Nor is a write tried that would be refused.
      expect(memory.calls()).not.toHaveProperty('TransactWriteCommand');
      await route.leaveThenTick('a2');

      expect(route.woken).toEqual(['b1']);
    }));

  test('gives a request that needs more permits than the route has all of them', () =>
    at({ maxRunning: 2 }, async (route) => {
      await route.wait('b1', { weight: 5 });
      await route.tick();

      expect(route.woken).toEqual(['b1']);
      expect((await route.state()).used).toBe(2);
    }));

  test('takes the permit back of a request that ended before its turn', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1', 'c1', 'd1');
      for (const id of ['b1', 'c1']) route.gone.add(`${id}/0`);
      memory.patch(requestKey('b1'), { status: 'failed' });
      memory.remove(requestKey('c1'));
      await route.leaveThenTick('a1');
      for (let tick = 0; tick < 2; tick++) await route.tick();

      expect(route.woken).toEqual(['d1']);
      expect(await route.holders()).toEqual(['d1']);
    }));

  test('leaves a request its permit when its time in the queue runs out as it is woken', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1', 'c1');
      await route.leave('a1');
      await route.tick(0, async (taskToken) => {
        // Step Functions answers late: the wait has timed out, and the request is dispatched.
        route.gone.add(taskToken);
        expect(await route.take('b1')).toBe('held');
        return false;
      });
      await route.tick();

      expect(await route.holders()).toEqual(['b1']);
      expect(route.queue()).not.toContain(queueEntryKey(route.limit.name, route.queued('b1')).SK);
      expect(memory.get(requestKey('b1'))).toMatchObject({ GSI1SK: route.clock.now().toISOString() });
      await route.leaveThenTick('b1');
      expect(route.woken).toEqual(['c1']);
    }));

  test('wakes a request with the permit it has when it waits again under another token', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1');
      route.gone.add('b1/0');
      await route.leaveThenTick('a1');
      await route.wait('b1', { entry: 1 });
      await route.tick();

      expect(route.woken).toEqual(['b1']);
      expect(await route.holders()).toEqual(['b1']);
      expect(route.queue()).toEqual(['ACCOUNT#b']);
    }));

  test('leaves a request in the queue that waits under a newer token by the time it is woken', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1');
      await route.leave('a1');
      await route.tick(0, async (taskToken) => {
        await route.wait('b1', { entry: 1 });
        return route.wake(taskToken);
      });
      expect(route.queue()).toContain(queueEntryKey(route.limit.name, route.queued('b1')).SK);
      await route.tick();

      expect([...route.gone]).toEqual(['b1/0', 'b1/1']);
    }));

  test('wakes a request under its newest token', () =>
    at({ maxRunning: 1 }, async (route) => {
      await route.take('a1');
      await route.wait('b1', { entry: 2 });
      await route.wait('b1', { entry: 1 });
      await route.leaveThenTick('a1');

      expect(memory.get(queueEntryKey(route.limit.name, route.queued('b1')))).toBeUndefined();
      expect([...route.gone]).toEqual(['b1/2']);
    }));

  test('reads little of a long queue', () =>
    at({ maxRunning: 1 }, async (route) => {
      await route.take('a1');
      for (let index = 0; index < 20; index++) await route.wait(`b${index + 10}`, { seconds: index });
      await route.leave('a1');
      memory.client.resetHistory();
      await route.tick();

      expect(memory.calls()).toEqual({
        ...{ BatchGetCommand: 1, QueryCommand: 2 },
        ...{ TransactWriteCommand: 1, DeleteCommand: 1, UpdateCommand: 1 },
      });
    }));

  test('looks for requests that have permits already in the queues of twelve accounts a tick, in turn', () =>
    at({ maxRunning: 30 }, async (route) => {
      const accounts = Array.from({ length: 30 }, (_, index) => `account-${String.fromCharCode(65 + index)}`);
      for (const account of accounts) {
        await route.take(`${account}1`);
      }
      for (const account of accounts) await route.wait(`${account}2`);
      const last = `${accounts.at(-1)}1`;
      await route.wait(last);
      const reads: number[] = [];
      for (let tick = 0; tick < 3; tick++) {
        memory.client.resetHistory();
        await route.tick(tick);
        reads.push(memory.calls().QueryCommand ?? 0);
      }

      // One of the accounts, and one of each account’s queue.
      expect(reads).toEqual([13, 13, 13]);
      expect(route.woken).toEqual([last]);
    }));

  test('wakes and forgets the requests of a route that is not configured any more', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1', 'b2', 'c1');
      await route.drain();

      expect(route.woken.toSorted()).toEqual(['b1', 'b2', 'c1']);
      expect(route.queue()).toEqual([]);
      expect((await route.state()).queued).toBeUndefined();
    }));
});
