import { DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import {
  DUE_SHARDS,
  dueListing,
  duePartition,
  providerAttemptKey,
  requestKey,
} from '../../../../core/table/keys.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { anAttempt, aVideoRequest, putRequest, VIDEO_ID } from '../../builders/entities.ts';
import { leadingTo } from '../../builders/providers.ts';
import {
  at,
  dueAt,
  dueKeyOf,
  ended,
  executions,
  given,
  givenWaiting,
  listed,
  memory,
} from '../../builders/reconciling.ts';
import { aRequestId } from '../../builders/request-ids.ts';
import { elapsed, run, wait } from '../../builders/runs.ts';
import { accepted, answering } from '../../builders/waiting-request.ts';
import { aTaskProvider, counted, idle, logged } from './a-run.ts';

describe('what is due', () => {
  test('is checked 40 items at a time', async () => {
    for (let count = 0; count < 90; count++) given(-100);
    let [atOnce, most] = [0, 0];
    executions.client.on(DescribeExecutionCommand).callsFake(async () => {
      most = Math.max(most, ++atOnce);
      await wait(0.1);
      atOnce--;
      return { status: 'RUNNING' };
    });

    // It ends once all have been checked.
    expect(await run(idle)).toBeLessThan(10);

    expect(most).toBe(40);
    expect(executions.client.commandCalls(DescribeExecutionCommand)).toHaveLength(90);
  });

  test('is read up to a thousand items: the others stay due, and cost no read', async () => {
    for (let count = 0; count < 1_300; count++) {
      const requestId = aRequestId(atSeconds(count), 'vid');
      memory.put(requestKey(requestId), dueListing('CHECK', requestId, at(3.8)));
    }

    await run(idle, { runMs: 3_900 });

    const reads = memory.client
      .commandCalls(QueryCommand)
      .map(({ args }) => args[0].input)
      .filter((input) => String(input.ExpressionAttributeValues?.[':partition']).startsWith('DUE#CHECK'));
    // Two ticks, each with one read of every partition.
    expect(reads).toHaveLength(2 * DUE_SHARDS);
    expect(reads.filter((input) => input.ExclusiveStartKey !== undefined)).toEqual([]);
  });

  test('is measured by how long it was overdue when the run began', async () => {
    givenWaiting(-90);
    await run(aTaskProvider({ finishesAt: 0 }).routes);

    expect(counted().filter(([name]) => name === 'CheckOverdue')).toEqual([['CheckOverdue', {}, 90]]);
    await run(idle);
    expect(counted()).toContainEqual(['CheckOverdue', {}, 0]);
  });

  test('has the tasks of requests that ended: they are cancelled at the pace of queries', async () => {
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
      memory.put(providerAttemptKey(requestId, 0, 0), anAttempt({ requestId, ...accepted() }));
      dueAt(0, requestId);
    }

    await run(leadingTo(provider));

    expect(cancelledAt).toHaveLength(12);
    expect(cancelledAt.at(-1)).toBeGreaterThanOrEqual(11 / 18);
    expect(cancelledAt.at(-1)).toBeLessThan(1);
  });

  test.each([
    ['before the run', -100, 1],
    ['during the run', 25, 4],
  ])(
    'has files that expired %s, whose list is read every 10 s until one execution is started',
    async (_, expired, lists) => {
      putRequest(memory, aVideoRequest({ ...ended, expiresAt: at(expired) }));
      memory.patch(requestKey(VIDEO_ID), dueListing('EXPIRE', VIDEO_ID, at(expired)));
      givenWaiting(-1);

      await run(idle);

      const first = duePartition('EXPIRE', 0);
      const reads = memory.client
        .commandCalls(QueryCommand)
        .filter(({ args }) => args[0].input.ExpressionAttributeValues?.[':partition'] === first);
      expect(reads).toHaveLength(lists);
      expect(executions.names('expiry')).toHaveLength(1);
    },
  );
});

describe('an error', () => {
  test('of an item is logged and counted, does not stop others, and the item is checked again', async () => {
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
    expect(dueKeyOf(bad)).toEqual(listed('START', 89, bad));
  });

  test('of a tick is logged and counted, and the next tick goes on', async () => {
    givenWaiting(-1);
    const { recorded, routes } = aTaskProvider({ finishesAt: 5 });
    const original = memory.beforeCall;
    memory.beforeCall = () => {
      if (elapsed() === 2) throw new Error('throttled');
    };

    expect(await run(routes)).toBe(14);

    memory.beforeCall = original;
    expect(recorded.queriedAt).toEqual([0, 4, 6]);
    expect(logged).toHaveBeenCalledWith('the reconciler failed at something', {
      error: new Error('throttled'),
    });
    expect(counted()).toContainEqual(['ReconcileFailed', {}]);
  });

  test('at the end does not keep the other requests from being listed', async () => {
    const ids = [givenWaiting(-2), givenWaiting(-1)];
    const key = requestKey(ids[0] ?? '');
    memory.client.on(UpdateCommand, { Key: key }, false).rejects(new Error('throttled'));

    await run(idle);

    expect(dueKeyOf(ids[1] ?? '').GSI1SK).not.toBe(at(-1));
  });
});
