import '../../builders/environment.ts';
import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { logger } from '../../../../core/observability.ts';
import { markProcessing } from '../../../../core/requests/requests.ts';
import {
  deletedRequestKey,
  dueListing,
  outputObjectKey,
  providerWaitKey,
  requestKey,
} from '../../../../core/table/keys.ts';
import { ACCOUNT_ID, anImageRequest, aVideoRequest, putRequest, VIDEO_ID } from '../../builders/entities.ts';
import {
  at,
  bucket,
  commands,
  dueAt,
  ended,
  executions,
  given,
  givenWaiting,
  listed,
  memory,
  placeOf,
  reconcileAt,
  request,
} from '../../builders/reconciling.ts';
import { metricsCounted } from '../../fakes/metrics.ts';

const logged = jest.spyOn(logger, 'error');
let counted = metricsCounted();
beforeEach(() => {
  logged.mockReset();
  counted = metricsCounted();
});

describe('a request that may have no execution', () => {
  test('is started once it is 45 s old', async () => {
    const old = [given(-100), given(-45)];
    given(-44.999);
    given(0);

    await reconcileAt(0);

    expect(executions.names('generation')).toEqual(old);
    expect(commands()).toEqual(expect.arrayContaining(['DescribeExecutionCommand', 'StartExecutionCommand']));
  });

  test('is looked at again by the next run after it was started', async () => {
    const requestId = given(-60);

    await reconcileAt(0);

    expect(placeOf(requestId)).toEqual(listed('START', 45, requestId));
  });

  test('is left alone when it has one, and looked at like all others', async () => {
    const requestId = given(-60);
    executions.put('generation', requestId, 'RUNNING');

    await reconcileAt(0);

    expect(commands()).toEqual(['DescribeExecutionCommand']);
    expect(placeOf(requestId)).toEqual(listed('LOOK', 300, requestId));
  });

  test('is not even described when it was dispatched', async () => {
    const requestId = given(-60);
    await markProcessing(anImageRequest({ requestId }));

    await reconcileAt(0);

    expect(commands()).toEqual([]);
    // Five minutes after its creation.
    expect(placeOf(requestId)).toEqual(listed('LOOK', 240, requestId));
  });

  test('keeps the place that its dispatch gives it during the look', async () => {
    const requestId = given(-60);
    executions.client.on(DescribeExecutionCommand).callsFake(async () => {
      await markProcessing(anImageRequest({ requestId }), at(301));
      return { status: 'RUNNING' };
    });

    await reconcileAt(0);

    expect(placeOf(requestId)).toEqual(listed('LOOK', 301, requestId));
  });

  test('comes before all other work', async () => {
    for (let count = 0; count < 20; count++) givenWaiting(-500);
    const requestId = given(-60);
    let calls = 0;

    await reconcileAt(0, undefined, () => ++calls <= 1);

    expect(executions.names('generation')).toContain(requestId);
    expect(commands()).toEqual(['DescribeExecutionCommand', 'StartExecutionCommand']);
  });
});

describe('what is due', () => {
  test('goes on past an error, which is logged and counted, and leaves it for 2 min later', async () => {
    const ids = [given(-100), given(-90), given(-80)];
    const bad = ids[1] ?? '';
    memory.patch(requestKey(bad), { images: 'none' });

    await reconcileAt(0);

    expect(executions.names('generation')).toEqual([ids[0], ids[2]]);
    expect(logged.mock.calls).toEqual([
      ['due work could not be handled', { kind: 'request', requestId: bad, error: expect.any(Error) }],
    ]);
    expect(counted()).toContainEqual(['ReconcileFailed', {}]);
    expect(placeOf(bad)).toEqual(listed('START', 45, bad));
  });

  test('that cannot be read does not stay in front', async () => {
    request.given({ resolution: 7 as never });
    dueAt(0);

    await reconcileAt(0);

    expect(placeOf(VIDEO_ID)).toEqual(listed('LOOK', 45));
    expect(counted()).toContainEqual(['ReconcileFailed', {}]);
  });

  test('is left where it is once keepGoing returns false, first for the next run', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => given(index - 200));
    let calls = 0;

    await reconcileAt(0, undefined, () => ++calls <= 20);

    expect(executions.names('generation')).toEqual(ids.slice(0, 20));
    for (const id of ids.slice(20)) expect(placeOf(id).GSI1SK).toBe(at(ids.indexOf(id) - 155));
  });

  test('is looked at by one of several runs', async () => {
    for (let count = 0; count < 10; count++) given(-100);

    await Promise.all([reconcileAt(0), reconcileAt(0), reconcileAt(0)]);

    expect(commands().filter((name) => name === 'DescribeExecutionCommand')).toHaveLength(10);
  });

  test('is handled eight items at a time', async () => {
    for (let count = 0; count < 40; count++) given(-100);
    let [atOnce, most] = [0, 0];
    executions.client.on(DescribeExecutionCommand).callsFake(async () => {
      most = Math.max(most, ++atOnce);
      await new Promise(setImmediate);
      atOnce--;
      return { status: 'RUNNING' };
    });

    await reconcileAt(0);

    expect(most).toBe(8);
  });

  test('costs what is due, not what is open: ten items among many', async () => {
    for (let count = 0; count < 2000; count++) {
      if (count % 2 === 0) given(0);
      else givenWaiting(1000);
    }
    for (let count = 0; count < 10; count++) givenWaiting(0);

    await reconcileAt(0);

    // 16 partitions of two lists; ten items, each with two queries of its attempts.
    expect(memory.calls()).toEqual({
      QueryCommand: 16 + 16 + 2 * 10,
      GetCommand: 3 * 10,
      // Claimed, the query noted, listed for later.
      UpdateCommand: 3 * 10,
    });
    expect(commands()).toEqual(Array(10).fill('SendTaskHeartbeatCommand'));
  });
});

describe('other work', () => {
  test('resumes an interrupted deletion, and closes it once everything is removed', async () => {
    const files = [outputObjectKey(VIDEO_ID, 0, 'mp4')];
    const mark = { accountId: ACCOUNT_ID, requestId: VIDEO_ID, deletedAt: at(0), files };
    memory.put(deletedRequestKey(ACCOUNT_ID, VIDEO_ID), { ...listed('LOOK', 60), ...mark });
    memory.put(providerWaitKey(VIDEO_ID), { requestId: VIDEO_ID });
    for (const file of files) bucket.put(file);
    bucket.client.on(DeleteObjectsCommand).rejectsOnce(new Error('no bucket')).resolves({});
    const left = () => memory.get(deletedRequestKey(ACCOUNT_ID, VIDEO_ID));

    await reconcileAt(100);
    expect(left()).toMatchObject({ files, ...listed('LOOK', 145) });
    await reconcileAt(145);

    expect(left()).toEqual({
      ...deletedRequestKey(ACCOUNT_ID, VIDEO_ID),
      accountId: ACCOUNT_ID,
      requestId: VIDEO_ID,
      deletedAt: at(0),
    });
    expect(request.wait()).toBeUndefined();
    expect(executions.started).toEqual([]);
  });

  test('closes a terminal request that was not closed', async () => {
    putRequest(memory, aVideoRequest(ended));
    dueAt(60);

    await reconcileAt(100);

    expect(placeOf(VIDEO_ID)).toEqual(dueListing('EXPIRE', VIDEO_ID, at(1000)));
  });
});
