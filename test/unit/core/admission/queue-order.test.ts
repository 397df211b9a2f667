import { describe, expect, test } from '@jest/globals';
import type { QueueEntry } from '../../../../core/admission/queue-entries.ts';
import { admissionOrder, readRouteQueue } from '../../../../core/admission/queue-order.ts';
import { queueEntryKey, routeLimitKey } from '../../../../core/table/keys.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { at, waitInTurn } from './a-route.ts';

const entry = (requestId: string, changes: Partial<QueueEntry> = {}): QueueEntry => ({
  ...{ requestId, accountId: requestId.slice(0, 1), createdAt: '', taskToken: '', tokenOrder: '' },
  ...{ weight: 1, starts: 1 },
  ...changes,
});
const accounts = (...ids: string[]) =>
  ids.map((accountId, index) => ({ accountId, touched: '', servedAt: `2026-11-20T09:00:0${index}.000Z` }));

describe('the order of admission', () => {
  test('takes the accounts in turn, each with its oldest request', () => {
    const entries = ['a1', 'a2', 'a3', 'b1', 'c1', 'c2'].map((id) => entry(id));

    expect(admissionOrder(entries, accounts('c', 'a', 'b'), new Map())).toEqual([
      ...['c1', 'a1', 'b1'],
      ...['c2', 'a2', 'a3'],
    ]);
  });

  test('takes the account first that has the fewest calls running, counting those that it gets', () => {
    const entries = [entry('a1', { weight: 3 }), entry('a2'), entry('b1'), entry('b2'), entry('b3')];

    expect(admissionOrder(entries, accounts('a', 'b'), new Map([['b', 1]]))).toEqual([
      ...['a1', 'b1', 'b2', 'a2', 'b3'],
    ]);
  });

  test('takes the account first that was served longest ago, of accounts with as many calls running', () => {
    const ids = ['a1', 'a2', 'b1', 'b2'];

    // When `a` has as many calls as `b`, it was served just now.
    expect(
      admissionOrder(
        ids.map((id) => entry(id)),
        accounts('a', 'b'),
        new Map([['b', 1]]),
      ),
    ).toEqual(['a1', 'b1', 'a2', 'b2']);
  });

  test('takes accounts in the same turn, however many requests were admitted before', () => {
    const turns = Array.from({ length: 60 }, (_, index) => [`b${index}`, `a${index}`]).flat();

    expect(
      admissionOrder(
        turns.toSorted().map((id) => entry(id, { createdAt: id })),
        accounts('b', 'a'),
        new Map(),
      ).map((id) => id.slice(0, 1)),
    ).toEqual(turns.map((id) => id.slice(0, 1)));
  });

  test('leaves out who has a permit, and takes an account that cannot be read', () => {
    const entries = [entry('a1', { admittedMs: 1 }), entry('a2'), entry('b1')];

    expect(admissionOrder(entries, accounts('a'), new Map())).toEqual(['b1', 'a2']);
    expect(admissionOrder([], accounts('a'), new Map())).toEqual([]);
  });
});

describe('the queue of a route', () => {
  test('has the requests in the order of their turns, and says how many calls run', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'a2', 'b1');

      expect(await readRouteQueue(route.limit.name)).toEqual({
        order: ['b1', 'a2'],
        running: 1,
        permits: 1,
      });
    }));

  test('says nothing of running calls where they have no limit', () =>
    at({ requestsPerSecond: 1 }, async (route) => {
      await route.wait('a1');

      expect(await readRouteQueue(route.limit.name)).toEqual({ order: ['a1'] });
    }));

  test('is read though the limit of its route is unreadable', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'b1');
      memory.patch(routeLimitKey(route.limit.name), { used: 'one' });

      expect(await readRouteQueue(route.limit.name)).toEqual({ order: ['b1'], permits: 1 });
    }));

  test('is read up to its thousandth request', () =>
    at({ maxRunning: 1 }, async (route) => {
      for (let index = 0; index < 1_001; index++) {
        const queued = entry(`a${index}`, { createdAt: atSeconds(index).toISOString() });
        memory.put(queueEntryKey(route.limit.name, queued), queued);
      }

      const { order } = await readRouteQueue(route.limit.name);

      expect([order.length, order.at(-1)]).toEqual([1_000, 'a999']);
    }));
});
