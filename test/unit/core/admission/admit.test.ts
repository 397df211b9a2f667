import { describe, expect, test } from '@jest/globals';
import { leaveRoutes } from '../../../../core/admission/admission.ts';
import { removeQueueEntry } from '../../../../core/admission/queue-entries.ts';
import {
  type DueList,
  dueListing,
  queueEntryKey,
  requestKey,
  routeLimitKey,
  waitingAccountKey,
} from '../../../../core/table/keys.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { anImageRequest, REQUEST_ID } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { at, MODEL, type RouteUnderTest, waitInTurn } from './a-route.ts';

/** A request that has succeeded, and is listed. */
const LISTED = (list: DueList) => ({
  ...{ status: 'succeeded', expiresAt: atSeconds(90_000).toISOString() },
  ...dueListing(list, REQUEST_ID, atSeconds(60).toISOString()),
});

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
      await route.leaveThenTick('a1');
      expect(route.woken).toEqual([]);
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

describe('a run that dies', () => {
  /** A tick that dies at this call of the table or of Step Functions, counted from 0. */
  const tickUntil = async (route: RouteUnderTest, call: number): Promise<boolean> => {
    let calls = 0;
    const pass = async (): Promise<void> => {
      if (calls++ === call) throw new Error('killed');
    };
    memory.beforeCall = pass;
    const wake = async (taskToken: string): Promise<boolean> => {
      await pass();
      return route.wake(taskToken);
    };
    try {
      await route.tick(0, wake);
      return false;
    } catch {
      return true;
    } finally {
      memory.beforeCall = () => undefined;
    }
  };

  test('anywhere in a tick admits each request once, as the next tick shows', async () => {
    let call = 0;
    for (let dies = true; dies; call++) {
      memory.reset();
      await at({ maxRunning: 1 }, async (route) => {
        await waitInTurn(route, 'b1', 'c1');
        await route.leave('a1');
        dies = await tickUntil(route, call);
        await route.tick();

        expect(route.woken).toEqual(['b1']);
        expect(await route.holders()).toEqual(['b1']);
        memory.patch(requestKey('b1'), { status: 'processing' });
        await route.leaveThenTick('b1');
        expect(route.woken).toEqual(['b1', 'c1']);
        expect(await route.holders()).toEqual(['c1']);
      });
    }
    expect(call).toBeGreaterThan(5);
  });
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

describe('a request that begins to wait during a tick', () => {
  /** Runs before a call of the table, counted from 0. */
  const precede = (call: number, act: () => Promise<void>): void => {
    let calls = 0;
    memory.beforeCall = async () => {
      if (calls++ !== call) return;
      memory.beforeCall = () => undefined;
      await act();
    };
  };

  test('keeps its account, though the tick saw none of its requests', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1');
      await removeQueueEntry(route.limit.name, route.queued('b1'));
      await route.leave('a1');
      // After the reads of the route limit, the accounts and the account's requests.
      precede(3, () => route.wait('b2'));
      await route.tick();
      expect(memory.get(waitingAccountKey(route.limit.name, 'b'))).toBeDefined();
      await route.tick();

      expect(route.woken).toEqual(['b2']);
    }));

  test.each([1, 2])(
    'is not forgotten when it comes before call %i of a tick that sees an empty queue',
    (call) =>
      at({ maxRunning: 1 }, async (route) => {
        memory.put(routeLimitKey(route.limit.name), { used: 0, queued: 'an older stamp' });
        precede(call, () => route.wait('c1'));
        await route.tick();
        await route.tick();

        expect(route.woken).toEqual(['c1']);
      }),
  );
});
