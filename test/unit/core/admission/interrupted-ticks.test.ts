import { describe, expect, test } from '@jest/globals';
import { removeQueueEntry } from '../../../../core/admission/queue-entries.ts';
import { requestKey, routeLimitKey, waitingAccountKey } from '../../../../core/table/keys.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { at, type RouteUnderTest, waitInTurn } from './a-route.ts';

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
