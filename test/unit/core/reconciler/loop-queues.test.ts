import { SendTaskSuccessCommand } from '@aws-sdk/client-sfn';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { enterQueue, returnPermit } from '../../../../core/admission/admission.ts';
import { putLeftRoute } from '../../../../core/models/model-settings.ts';
import {
  requestKey,
  routeLimitKey,
  routeLimitPartition,
  routeStateKey,
} from '../../../../core/table/keys.ts';
import { systemClock } from '../../../../core/time.ts';
import { ACCOUNT_ID, aVideoRequest, putRequest } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { at, executions, listed, memory } from '../../builders/reconciling.ts';
import { aRequestId } from '../../builders/request-ids.ts';
import { beginRun, elapsed, passing, run, wait } from '../../builders/runs.ts';
import { idle, logged } from './a-run.ts';

describe('requests that queue at a route', () => {
  const limited = {
    MODEL_ROUTES: JSON.stringify({
      'xW3.0s': { provider: 'modelstudio', upstreamModel: 'wan', maxRunning: 1 },
      'xSD4.5': { provider: 'modelark', upstreamModel: 'seedream', maxRunning: 1 },
    }),
  };
  const [WAN, SEEDREAM] = ['modelstudio/wan', 'modelark/seedream'] as const;
  /** Lets the execution of a new queued request queue at a route. */
  const waitAt = async (limit: string, routes?: string[]) => {
    const createdAt = at(elapsed());
    const requestId = aRequestId(new Date(createdAt), 'vid');
    putRequest(memory, aVideoRequest({ requestId, createdAt }));
    memory.patch(requestKey(requestId), listed('CHECK', 3_700, requestId));
    executions.wait(requestId);
    const entry = { requestId, accountId: ACCOUNT_ID, createdAt, taskToken: requestId, tokenOrder: '0' };
    await enterQueue(limit, { ...entry, weight: 1, starts: 1, ...(routes && { routes }) }, systemClock);
    return requestId;
  };
  const woken = () => executions.woken.map(({ taskToken }) => taskToken);

  test('keep a run going, which admits each at the next tick after there is room', () =>
    withEnvironment(limited, async () => {
      const first = await waitAt(WAN);
      const running = beginRun(idle);
      const wokenAt: number[] = [];
      const endOf = (requestId: string) =>
        returnPermit(WAN, { requestId, accountId: ACCOUNT_ID }, systemClock);
      const others = (async () => {
        await wait(1);
        const second = await waitAt(WAN);
        await wait(10);
        wokenAt.push(woken().length);
        await endOf(first);
        await wait(2);
        wokenAt.push(woken().length);
        await endOf(second);
        return second;
      })();
      const [end, second] = await passing(Promise.all([running, others]));

      expect(wokenAt).toEqual([1, 2]);
      expect(woken()).toEqual([first, second]);
      expect(end).toBeLessThan(30);
      expect(memory.get(routeLimitKey(WAN))).not.toHaveProperty('queued');
    }));

  test('are admitted by one tick at their route at a time, however long it takes', () =>
    withEnvironment(limited, async () => {
      const id = await waitAt(WAN);
      const wokenAt: number[] = [];
      executions.client.on(SendTaskSuccessCommand).callsFake(async () => {
        wokenAt.push(elapsed());
        await wait(7);
        return {};
      });

      await run(idle);

      expect([id, wokenAt.length]).toEqual([id, 1]);
    }));

  test('are no reason to go on once they were admitted, though their route is full', () =>
    withEnvironment(limited, async () => {
      const id = await waitAt(WAN);

      expect(await run(idle)).toBeLessThan(15);
      expect(woken()).toEqual([id]);
      expect(memory.get(routeLimitKey(WAN))).toMatchObject({ used: 1 });
      expect(memory.get(routeLimitKey(WAN))).not.toHaveProperty('queued');
    }));

  describe('of a route that is one of two', () => {
    const [wan, other] = ['modelstudio/wan', 'fal/wan'];
    const pause = (route: string) =>
      memory.put(routeStateKey(route), {
        ...{ pauseReason: 'calls', pausedAt: at(-60), pausedUntil: at(300), pauseSeconds: 300 },
      });
    const underBoth = (limits: object, during: () => Promise<void>) => {
      const first = { provider: 'modelstudio', upstreamModel: 'wan', ...limits };
      const routes = { 'xW3.0s': [first, { provider: 'fal', upstreamModel: 'wan' }] };
      return withEnvironment({ MODEL_ROUTES: JSON.stringify(routes) }, during);
    };

    test('choose again when it is paused, though it is full', () =>
      underBoth({ maxRunning: 1 }, async () => {
        const id = await waitAt(WAN, [wan, other]);
        memory.patch(routeLimitKey(WAN), { used: 1 });
        pause(wan);

        await run(idle);

        expect(woken()).toEqual([id]);
        expect(memory.get(routeLimitKey(WAN))).toMatchObject({ used: 1 });
      }));

    test('go on waiting while both are paused', () =>
      underBoth({}, async () => {
        await waitAt(WAN, [wan, other]);
        for (const route of [wan, other]) pause(route);

        await run(idle);

        expect(woken()).toEqual([]);
      }));

    test('are all dispatched once it is used again, without permits when it has no limit', () =>
      underBoth({}, async () => {
        const ids = [await waitAt(WAN, [wan, other]), await waitAt(WAN, [wan, other])];
        pause(other);

        await run(idle);

        expect(woken().toSorted()).toEqual(ids.toSorted());
        expect(memory.get(routeLimitKey(WAN))).not.toHaveProperty('used');
        expect(memory.get(routeLimitKey(WAN))).not.toHaveProperty('queued');
      }));
  });

  test('are dispatched once their route is left by hand, whichever routes their model has', () =>
    withEnvironment(limited, async () => {
      const ids = [await waitAt(WAN), await waitAt(WAN)];
      memory.patch(routeLimitKey(WAN), { used: 1 });
      await putLeftRoute(WAN, at(0));

      await run(idle);

      expect(woken().toSorted()).toEqual(ids.toSorted());
    }));

  test('are dispatched when their route is not configured any more', async () => {
    const id = await waitAt(WAN);

    await run(idle);

    expect(woken()).toEqual([id]);
    expect(memory.get(routeLimitKey(WAN))).not.toHaveProperty('queued');
  });

  test('are admitted when another route limit cannot be read', () =>
    withEnvironment(limited, async () => {
      await waitAt(WAN);
      memory.patch(routeLimitKey(WAN), { used: 'one' });
      const id = await waitAt(SEEDREAM);

      await run(idle);

      expect(woken()).toEqual([id]);
      expect(new Set(logged.mock.calls.map(([message]) => message))).toEqual(
        new Set(['an item could not be read']),
      );
    }));

  test('are admitted whatever error another route has', () =>
    withEnvironment(limited, async () => {
      await waitAt(WAN);
      const id = await waitAt(SEEDREAM);
      const limit = { ':PK': routeLimitPartition(WAN) };
      memory.client
        .on(QueryCommand, { ExpressionAttributeValues: limit }, false)
        .rejects(new Error('throttled'));

      await run(idle);

      const error = { route: WAN, error: new Error('throttled') };
      expect(logged).toHaveBeenCalledWith('the reconciler failed at something', error);
      expect(woken()).toEqual([id]);
    }));
});
