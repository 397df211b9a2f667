import { describe, expect, jest, test } from '@jest/globals';
import { deleteRequest } from '../../../../core/deletion/delete-requests.ts';
import { recordOutcome } from '../../../../core/provider-calls/provider-attempts.ts';
import { claimCallbackQuery } from '../../../../core/provider-calls/provider-waits.ts';
import type { StoredRequest } from '../../../../core/requests/request-rules.ts';
import { closeWork, findRequest } from '../../../../core/requests/requests.ts';
import {
  deletedRequestKey,
  dueListing,
  providerAttemptKey,
  providerWaitKey,
  requestKey,
  requestPartition,
} from '../../../../core/table/keys.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { anAttempt } from '../../builders/entities.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import { checkDueItems } from '../../builders/runs.ts';
import { accepted, answering } from '../../builders/waiting-request.ts';
import '../../fakes/fresh-bucket.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { at, type RouteUnderTest, waitInTurn } from '../admission/a-route.ts';

const ACCOUNT = 'a';
const canceller = answering({ kind: 'waiting' });
const provider = leadingTo(canceller);
const CANCELLED = {
  taskId: 'task-1',
  outcome: { kind: 'accepted', taskId: 'task-1' },
  cancellation: { at: atSeconds(0).toISOString() },
};
const reconcile = (seconds: number) => checkDueItems(seconds, provider);
const remove = (id: string) => deleteRequest(ACCOUNT, id, atSeconds(0));
const mark = (id: string) => memory.get(deletedRequestKey(ACCOUNT, id));

/** The request failed at this route, or at a later route, and waits to be closed. */
const fail = (route: RouteUnderTest, id: string, isFormer = false): void => {
  const here = route.limit.name;
  memory.patch(requestKey(id), {
    status: 'failed',
    assignment: { route: isFormer ? 'fal/other' : here, number: 2 },
    ...(isFormer && { formerRoutes: [here] }),
    ...dueListing('CHECK', id, atSeconds(60).toISOString()),
  });
};

describe('a request that is deleted before it is closed', () => {
  test.each([
    ['its route', false],
    ['a former route', true],
  ])('has its permit of %s released by the reconciler', (_, isFormer) =>
    at({ maxRunning: 1 }, async (route) => {
      await route.take('a1');
      fail(route, 'a1', isFormer);

      expect(await remove('a1')).toEqual({ outcome: 'deleted', removedObjects: 0 });
      await reconcile(60);

      expect(await route.state()).toMatchObject({ used: 0 });
      expect(await route.holders()).toEqual([]);
      expect(mark('a1')).not.toHaveProperty('routes');
      expect(mark('a1')).not.toHaveProperty('GSI1PK');
    }),
  );

  test.each<[string, object, boolean]>([
    ['an unfinished task', { taskId: 'task-1', outcome: { kind: 'accepted', taskId: 'task-1' } }, true],
    ['a call of which nothing is known', { outcome: undefined }, false],
    ['a task that was cancelled', CANCELLED, false],
  ])('has %s cancelled by the reconciler, and its attempts removed', (_, attempt, isCancelled) =>
    at({ maxRunning: 1 }, async (route) => {
      const cancel = jest.spyOn(canceller, 'cancel');
      route.queued('a1');
      fail(route, 'a1');
      memory.put(providerAttemptKey('a1', 0, 0), anAttempt({ requestId: 'a1', ...attempt }));
      await remove('a1');
      expect(cancel).not.toHaveBeenCalled();
      await checkDueItems(60, leadingTo(canceller));

      expect(cancel).toHaveBeenCalledTimes(isCancelled ? 1 : 0);
      expect(memory.get(providerAttemptKey('a1', 0, 0))).toBeUndefined();
      expect(mark('a1')).not.toHaveProperty('model');
      expect(mark('a1')).not.toHaveProperty('GSI1PK');
      cancel.mockRestore();
    }),
  );

  test('leaves nothing of what comes late, while its attempts are kept for the reconciler', () =>
    at({ maxRunning: 1 }, async (route) => {
      route.queued('a1');
      fail(route, 'a1');
      const attempt = anAttempt({ requestId: 'a1', ...accepted() });
      memory.put(providerAttemptKey('a1', 0, 0), attempt);
      memory.put(providerWaitKey('a1'), { requestId: 'a1' });
      await remove('a1');

      // A callback that found the request just before the deletion, and the callback's query.
      expect(await claimCallbackQuery('a1', 2, atSeconds(1))).toMatchObject({ requestId: 'a1' });
      expect(await recordOutcome(attempt, aDone('https://up.example/a'), atSeconds(2))).toMatchObject({
        outcome: { kind: 'done' },
      });
      await reconcile(60);

      expect(memory.partition(requestPartition('a1'))).toEqual([]);
    }));

  test('goes out of the queue of its route', () =>
    at({ maxRunning: 1 }, async (route) => {
      await waitInTurn(route, 'a2');
      fail(route, 'a2');
      await remove('a2');
      await reconcile(60);

      expect(route.queue()).toEqual(['ACCOUNT#a']);
      expect(await route.holders()).toEqual(['a1']);
    }));

  /** Runs until this call of the table, counted from 0, and dies there. Returns whether it came that far. */
  const dyingAt = async (call: number, run: () => Promise<unknown>): Promise<boolean> => {
    let calls = 0;
    memory.beforeCall = () => {
      if (calls++ >= call) throw new Error('killed');
    };
    await run().catch(() => undefined);
    memory.beforeCall = () => undefined;
    return calls > call;
  };

  test.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
    ['deletion', async () => undefined, () => remove('a1')],
    ["reconciler's part", () => remove('a1'), () => reconcile(100)],
  ])('keeps no permit wherever the %s dies', async (_, before, run) => {
    let call = 0;
    for (let dies = true; dies; call++) {
      memory.reset();
      await at({ maxRunning: 1 }, async (route) => {
        await route.take('a1');
        fail(route, 'a1');
        await before();
        dies = await dyingAt(call, run);
        await remove('a1');
        for (const seconds of [200, 300]) await reconcile(seconds);

        expect(await route.holders()).toEqual([]);
        expect(memory.get(requestKey('a1'))).toBeUndefined();
        expect(mark('a1')).not.toHaveProperty('GSI1PK');
      });
    }
    expect(call).toBeGreaterThan(2);
  });
});

test('a request that is closed leaves nothing due when it is deleted', () =>
  at({ maxRunning: 1 }, async (route) => {
    route.queued('a1');
    fail(route, 'a1');
    await closeWork((await findRequest('a1')) as StoredRequest);
    await remove('a1');

    expect(mark('a1')).not.toHaveProperty('routes');
    expect(mark('a1')).not.toHaveProperty('GSI1PK');
  }));
