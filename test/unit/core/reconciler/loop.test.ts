import '../../builders/environment.ts';
import { DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { waitAtGate } from '../../../../core/admission/admission.ts';
import { findReconcilerRun } from '../../../../core/executions/reconciler-run.ts';
import { logger } from '../../../../core/observability.ts';
import type { ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import {
  circuitKey,
  dueListing,
  duePartition,
  gateKey,
  gatePartition,
  providerAttemptKey,
  RECONCILER_RUN_KEY,
  requestKey,
} from '../../../../core/table/keys.ts';
import { systemClock } from '../../../../core/time.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAttempt, aVideoRequest, putRequest, VIDEO_ID } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import {
  at,
  dueAt,
  ended,
  executions,
  given,
  givenWaiting,
  listed,
  memory,
  placeOf,
} from '../../builders/reconciling.ts';
import { aRequestId } from '../../builders/request-ids.ts';
import { beginRun, elapsed, fakeTime, passing, run, wait } from '../../builders/runs.ts';
import { answering } from '../../builders/waiting-request.ts';
import { metricsCounted } from '../../fakes/metrics.ts';

const logged = jest.spyOn(logger, 'error');
let counted = metricsCounted();
beforeEach(() => {
  fakeTime();
  logged.mockReset();
  counted = metricsCounted();
});

/** A provider whose tasks finish at this second. It notes when it was queried. */
const finishingAt = (second: number, callSeconds = 0) => {
  const queriedAt: number[] = [];
  const provider = answering(async (): Promise<ProviderAnswer> => {
    queriedAt.push(elapsed());
    if (callSeconds > 0) await wait(callSeconds);
    return elapsed() < second ? { kind: 'waiting' } : aDone('a');
  });
  return { provider, queriedAt, routes: leadingTo(provider) };
};
const NEVER = 10_000;
const idle = leadingTo(answering({ kind: 'waiting' }));
const END = 59;

describe('a run', () => {
  test('ends at once when nothing is due before its end, after 4 small queries of each list', async () => {
    givenWaiting(60);
    given(-44);

    expect(await run(idle)).toBe(0);

    expect(memory.client.commandCalls(QueryCommand)).toHaveLength(3 * 4 + 1);
    expect(memory.calls()).toEqual({ QueryCommand: 13, GetCommand: 1, UpdateCommand: 1 });
    expect(await findReconcilerRun()).toEqual({ functionName: 'reconcile', aliveUntilMs: 0 });
  });

  test('names its function once, for those who start one', async () => {
    await run(idle);
    memory.client.resetHistory();
    await run(idle);

    expect(memory.calls()).not.toHaveProperty('UpdateCommand');
    await run(idle, { functionName: 'renamed' });
    expect(await findReconcilerRun()).toMatchObject({ functionName: 'renamed' });
  });

  test('goes on while a task is open, and ends once it has finished', async () => {
    const id = givenWaiting(5);
    const { queriedAt, routes } = finishingAt(20);

    // Two ticks without open work come after the end of the last.
    expect(await run(routes)).toBe(28);

    expect(queriedAt).toEqual([4, 6, 8, 10, 12, 14, 16, 18, 20]);
    expect(executions.woken.map(({ taskToken }) => taskToken)).toEqual([id]);
    expect(placeOf(id)).toEqual(listed('LOOK', 320, id));
  });

  test('reads a request that it queries once, however often it queries it', async () => {
    givenWaiting(5);
    const { queriedAt, routes } = finishingAt(20);
    const readsOf = () =>
      memory.client
        .commandCalls(QueryCommand)
        .filter(({ args: [{ input }] }) =>
          JSON.stringify(input.ExpressionAttributeValues).includes('REQUEST#'),
        );

    await run(routes);

    expect(queriedAt.length).toBeGreaterThan(5);
    // The last is of the wake-up.
    expect(readsOf().length).toBeLessThanOrEqual(2);
  });

  test('lists an open request once, at its end, and writes nothing else than that it is alive', async () => {
    const id = givenWaiting(-1);
    const { queriedAt, routes } = finishingAt(NEVER);
    const places = new Set<unknown>();
    memory.beforeCall = () => places.add(placeOf(id).GSI1SK);

    expect(await run(routes)).toBe(END);

    // At this age the pause is 2.9 s.
    expect(queriedAt.at(-1)).toBe(58);
    expect([...places]).toEqual([at(-1)]);
    expect(placeOf(id)).toEqual(listed('LOOK', 60.9, id));
    // The name, the start, 29 ticks, the end, and the request.
    expect(memory.calls()).toMatchObject({ UpdateCommand: 1 + 1 + 29 + 1 + 1 });
    expect(memory.calls()).not.toHaveProperty('PutCommand');
  });

  test.each([
    ['young', 0, 2],
    ['one minute old', 80, 4],
    ['five minutes old', 300, 14],
  ])(
    'queries a %s task after a twentieth of its age, from 2 to 15 s, at the nearest tick',
    async (_, age, pause) => {
      const id = givenWaiting(-1);
      memory.put(
        providerAttemptKey(id, 0, 0),
        anAttempt({
          requestId: id,
          taskId: 'task',
          outcome: { kind: 'accepted', taskId: 'task' },
          startedAt: at(-age),
        }),
      );
      const { queriedAt, routes } = finishingAt(NEVER);

      await run(routes);

      expect(queriedAt.slice(0, 3)).toEqual([0, pause, 2 * pause]);
    },
  );

  test('looks for work once more after it has ended its own: a request that began to wait just before is found', async () => {
    const first = givenWaiting(-1);
    const { routes } = finishingAt(0);
    let second = '';
    const alive = async () => ((await findReconcilerRun())?.aliveUntilMs ?? 0) > Date.now();
    memory.client.on(UpdateCommand, { Key: RECONCILER_RUN_KEY }, false).callsFake(async (input) => {
      const isOver = input.ExpressionAttributeValues[':until'] === Date.now();
      // It began to wait while the run counted as alive, so it starts none.
      if (isOver && second === '' && (await alive())) second = givenWaiting(elapsed());
      return memory.update(input);
    });

    expect(await run(routes)).toBe(12);

    expect(executions.woken.map(({ taskToken }) => taskToken)).toEqual([first, second]);
    expect(await alive()).toBe(false);
  });

  test('renews itself each tick, for 10 s', async () => {
    givenWaiting(-1);
    const running = beginRun(idle);
    const alive: unknown[] = [];
    for (const second of [1, 21, 41]) {
      void wait(second).then(async () => {
        alive.push(((await findReconcilerRun())?.aliveUntilMs ?? 0) - NOW.getTime());
      });
    }
    await passing(running);

    expect(alive).toEqual([10_000, 30_000, 50_000]);
  });

  test.each([
    [60, [0]],
    [20, [0, 20, 40]],
    [10, [0, 10, 20, 30, 40, 50]],
  ])(
    'with a schedule of every %p s looks for work at these seconds when nothing is open: %j',
    async (everySeconds, seconds) => {
      const reads: number[] = [];
      const first = { ':partition': duePartition('LOOK', 0) };
      memory.client.on(QueryCommand, { ExpressionAttributeValues: first }, false).callsFake(async () => {
        reads.push(elapsed());
        await wait(4);
        return { Items: [] };
      });

      await run(idle, { everySeconds });
      expect(reads).toEqual(seconds);
    },
  );
});

describe('two runs', () => {
  test('follow each other: the newer takes over, and the older ends at its next tick and lists nothing', async () => {
    const id = givenWaiting(-1);
    const { queriedAt, routes } = finishingAt(NEVER);
    const places: unknown[] = [];
    const older = beginRun(routes).finally(() => places.push(placeOf(id)));
    const newer = wait(31).then(() => beginRun(routes));

    const ends = await passing(Promise.all([older, newer]));

    expect(ends).toEqual([32, 90]);
    expect(places).toEqual([listed('LOOK', -1, id)]);
    // The older's last query is at 30 s. The newer does not query in its first tick, at 31 s.
    expect(queriedAt.slice(14, 18)).toEqual([28, 30, 33, 35]);
    expect(placeOf(id).GSI1SK).toBe(at(93.45));
  });

  test('that begin at once leave the work to the newer one', async () => {
    givenWaiting(-1);
    const { queriedAt, routes } = finishingAt(10);

    const ends = await passing(Promise.all([beginRun(routes), beginRun(routes)]));

    expect(ends.toSorted((one, other) => one - other)[0]).toBe(2);
    expect(queriedAt.length).toBeLessThanOrEqual(7);
    expect(executions.woken).toHaveLength(1);
  });

  test('share nothing: one that had found nothing more leaves new work to the other', async () => {
    givenWaiting(-1);
    const { routes } = finishingAt(0);
    const older = beginRun(routes);
    const second = finishingAt(NEVER);
    const newer = wait(3).then(() => {
      givenWaiting(3);
      return beginRun(second.routes);
    });

    expect((await passing(Promise.all([older, newer])))[0]).toBe(4);
    expect(second.queriedAt[0]).toBe(3);
  });
});

describe('an error', () => {
  test('of an item is logged and counted, does not stop others, and the item is looked at again', async () => {
    const ids = [given(-100), given(-90), given(-80)];
    const bad = ids[1] ?? '';
    memory.patch(requestKey(bad), { images: 'none' });

    await run(idle);

    expect(executions.names('generation')).toEqual([ids[0], ids[2]]);
    const error = [
      'the reconciler failed at something',
      { kind: 'request', requestId: bad, error: expect.any(Error) },
    ];
    // At 0 and 44 s.
    expect(logged.mock.calls).toEqual([error, error]);
    expect(counted()).toContainEqual(['ReconcileFailed', {}]);
    expect(placeOf(bad)).toEqual(listed('START', 89, bad));
  });

  test('of a tick is logged and counted, and the next tick goes on', async () => {
    givenWaiting(-1);
    const { queriedAt, routes } = finishingAt(5);
    const original = memory.beforeCall;
    memory.beforeCall = () => {
      if (elapsed() === 2) throw new Error('throttled');
    };

    expect(await run(routes)).toBe(14);

    memory.beforeCall = original;
    expect(queriedAt).toEqual([0, 4, 6]);
    expect(logged).toHaveBeenCalledWith('the reconciler failed at something', {
      error: new Error('throttled'),
    });
    expect(counted()).toContainEqual(['ReconcileFailed', {}]);
  });

  test('at the end does not keep the other requests from being listed', async () => {
    const ids = [givenWaiting(-2), givenWaiting(-1)];
    const key = requestKey(ids[0] ?? '');
    memory.client.on(UpdateCommand, { Key: key }, false).rejects(new Error('throttled'));

    await run(finishingAt(NEVER).routes);

    expect(placeOf(ids[1] ?? '').GSI1SK).not.toBe(at(-1));
  });
});

describe('what is due', () => {
  test('is 500 items at most in a run: the others stay first for the next', async () => {
    const ids = Array.from({ length: 503 }, (_, index) => givenWaiting(index - 1000));
    const { provider, routes } = finishingAt(NEVER, 10);

    await run(routes);

    expect(provider.query.mock.calls.length).toBeLessThan(30);
    for (const id of ids.slice(500)) expect(placeOf(id)).toEqual(listed('LOOK', ids.indexOf(id) - 1000, id));
  });

  test('is looked at eight items at a time', async () => {
    for (let count = 0; count < 40; count++) given(-100);
    let [atOnce, most] = [0, 0];
    executions.client.on(DescribeExecutionCommand).callsFake(async () => {
      most = Math.max(most, ++atOnce);
      await wait(0.1);
      atOnce--;
      return { status: 'RUNNING' };
    });

    await run(idle);

    expect(most).toBe(8);
    expect(executions.client.commandCalls(DescribeExecutionCommand)).toHaveLength(40);
  });

  test('is measured by how long it was overdue when the run began', async () => {
    givenWaiting(-90);
    await run(finishingAt(0).routes);

    expect(counted().filter(([name]) => name === 'LookOverdue')).toEqual([['LookOverdue', {}, 90]]);
    counted = metricsCounted();
    await run(idle);
    expect(counted()).toContainEqual(['LookOverdue', {}, 0]);
  });

  test('has the tasks of requests that ended: they are cancelled four at once and ten a second', async () => {
    const provider = answering({ kind: 'waiting' });
    const cancelledAt: number[] = [];
    provider.cancel.mockImplementation(async () => {
      cancelledAt.push(elapsed());
      return { kind: 'cancelled' };
    });
    for (let count = 0; count < 12; count++) {
      const requestId = aRequestId(atSeconds(-900 + count), 'vid');
      const { finishedAt } = ended;
      putRequest(memory, aVideoRequest({ requestId, status: 'failed', ...(finishedAt && { finishedAt }) }));
      const task = { taskId: 'task', outcome: { kind: 'accepted', taskId: 'task' } } as const;
      memory.put(providerAttemptKey(requestId, 0, 0), anAttempt({ requestId, ...task }));
      dueAt(0, requestId);
    }

    await run(leadingTo(provider));

    expect(cancelledAt).toHaveLength(12);
    expect(cancelledAt.at(-1)).toBeCloseTo(1.1, 5);
  });

  test('has expired files, whose list is read every 10 s', async () => {
    putRequest(memory, aVideoRequest({ ...ended, expiresAt: at(-100) }));
    memory.patch(requestKey(VIDEO_ID), dueListing('EXPIRE', VIDEO_ID, at(-100)));
    givenWaiting(-1);

    await run(finishingAt(NEVER).routes);

    const first = duePartition('EXPIRE', 0);
    const reads = memory.client
      .commandCalls(QueryCommand)
      .filter(({ args }) => args[0].input.ExpressionAttributeValues?.[':partition'] === first);
    expect(reads).toHaveLength(6);
    // One in each half of a minute.
    expect(executions.names('expiry')).toHaveLength(2);
  });
});

describe('requests that wait at a gate', () => {
  const limited = {
    MODEL_ROUTES: JSON.stringify({
      'xW3.0s': { provider: 'modelstudio', upstreamModel: 'wan', maxRunning: 1 },
      'xSD4.5': { provider: 'modelark', upstreamModel: 'seedream', maxRunning: 1 },
    }),
  };
  const [WAN, SEEDREAM] = ['modelstudio/wan#0', 'modelark/seedream#0'] as const;
  /** Lets the execution of a new queued request wait at a gate. */
  const waitAt = async (gate: string, routes?: string[]) => {
    const createdAt = at(elapsed());
    const requestId = aRequestId(new Date(createdAt), 'vid');
    putRequest(memory, aVideoRequest({ requestId, createdAt }));
    memory.patch(requestKey(requestId), listed('LOOK', 3_700, requestId));
    executions.wait(requestId);
    const waiter = { requestId, accountId: ACCOUNT_ID, createdAt, taskToken: requestId, tokenOrder: '0' };
    await waitAtGate(gate, { ...waiter, weight: 1, starts: 1, ...(routes && { routes }) }, systemClock);
    return requestId;
  };
  const woken = () => executions.woken.map(({ taskToken }) => taskToken);

  test('keep a run going, which lets each in at the next tick after there is room', () =>
    withEnvironment(limited, async () => {
      const first = await waitAt(WAN);
      const running = beginRun(idle);
      const wokenAt: number[] = [];
      const endOf = (requestId: string) => memory.patch(requestKey(requestId), { status: 'failed' });
      const others = (async () => {
        await wait(1);
        const second = await waitAt(WAN);
        await wait(10);
        wokenAt.push(woken().length);
        endOf(first);
        await wait(2);
        wokenAt.push(woken().length);
        endOf(second);
        return second;
      })();
      const [end, second] = await passing(Promise.all([running, others]));

      expect(wokenAt).toEqual([1, 2]);
      expect(woken()).toEqual([first, second]);
      expect(end).toBeLessThan(30);
      expect(memory.get(gateKey(WAN))).not.toHaveProperty('queued');
    }));

  test('are no reason to go on once they were let in, though their gate is full', () =>
    withEnvironment(limited, async () => {
      const id = await waitAt(WAN);

      expect(await run(idle)).toBeLessThan(15);
      expect(woken()).toEqual([id]);
      expect(memory.get(gateKey(WAN))).toMatchObject({ used: 1 });
      expect(memory.get(gateKey(WAN))).not.toHaveProperty('queued');
    }));

  test('choose again when their route is left out, though it is full', () => {
    const [wan, other] = ['modelstudio/wan', 'fal/wan'];
    const both = {
      MODEL_ROUTES: JSON.stringify({
        'xW3.0s': [
          { provider: 'modelstudio', upstreamModel: 'wan', maxRunning: 1 },
          { provider: 'fal', upstreamModel: 'wan' },
        ],
      }),
    };
    return withEnvironment(both, async () => {
      const id = await waitAt(WAN, [wan, other]);
      memory.patch(gateKey(WAN), { used: 1 });
      memory.put(circuitKey(wan), {
        cause: 'calls',
        openedAt: at(-60),
        openUntil: at(600),
        pauseSeconds: 30,
      });

      await run(idle);

      expect(woken()).toEqual([id]);
      expect(memory.get(gateKey(WAN))).toMatchObject({ used: 1 });
    });
  });

  test('are dispatched when their gate is not configured any more', async () => {
    const id = await waitAt(WAN);

    await run(idle);

    expect(woken()).toEqual([id]);
    expect(memory.get(gateKey(WAN))).not.toHaveProperty('queued');
  });

  test('are let in when another gate cannot be read', () =>
    withEnvironment(limited, async () => {
      await waitAt(WAN);
      memory.patch(gateKey(WAN), { used: 'one' });
      const id = await waitAt(SEEDREAM);

      await run(idle);

      expect(woken()).toEqual([id]);
      expect(new Set(logged.mock.calls.map(([message]) => message))).toEqual(
        new Set(['an item could not be read']),
      );
    }));

  test('are let in whatever error another gate has', () =>
    withEnvironment(limited, async () => {
      await waitAt(WAN);
      const id = await waitAt(SEEDREAM);
      const gate = { ':PK': gatePartition(WAN) };
      memory.client
        .on(QueryCommand, { ExpressionAttributeValues: gate }, false)
        .rejects(new Error('throttled'));

      await run(idle);

      const error = { gate: WAN, error: new Error('throttled') };
      expect(logged).toHaveBeenCalledWith('the reconciler failed at something', error);
      expect(woken()).toEqual([id]);
    }));
});
