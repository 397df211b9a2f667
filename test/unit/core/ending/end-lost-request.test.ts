import '../../builders/environment.ts';
import type { ExecutionStatus } from '@aws-sdk/client-sfn';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { reconcileRequest } from '../../../../core/ending/end-lost-request.ts';
import { outputObjectKey } from '../../../../core/object-keys.ts';
import { accountKey, dueListing, ledgerPartition, requestKey } from '../../../../core/table/keys.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, aStoredVideo, VIDEO_ID } from '../../builders/entities.ts';
import { at, bucket, clockAt, ended, executions, memory, request } from '../../builders/reconciling.ts';
import { metricsCounted } from '../../fakes/metrics.ts';

let counted = metricsCounted();
beforeEach(() => {
  counted = metricsCounted();
});

const reconcile = () => reconcileRequest(VIDEO_ID, clockAt(100));
const account = () => memory.get(accountKey(ACCOUNT_ID));
const entries = () => memory.partition(ledgerPartition(ACCOUNT_ID));
const LOST = { code: 'internal_error', message: 'The work on this request was lost on our side.' };
const OVER = ['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'] as const satisfies ExecutionStatus[];
/** Puts the request back in a due list, as before it is closed. */
const stillOpen = () => memory.patch(requestKey(VIDEO_ID), dueListing('LOOK', VIDEO_ID, NOW.toISOString()));

describe('a request whose execution never started', () => {
  test.each(['queued', 'processing'] as const)('gets one, and is not changed: %s', async (status) => {
    request.given({ status });

    await reconcile();

    expect(executions.started).toEqual([
      { machine: 'generation', name: VIDEO_ID, input: { requestId: VIDEO_ID }, status: 'RUNNING' },
    ]);
    expect(request.record()).toMatchObject({ status });
    expect(entries()).toEqual([]);
    expect(counted()).toEqual([['ExecutionLost', {}]]);
  });

  test('gets one from concurrent runs', async () => {
    request.given();

    await Promise.all([reconcile(), reconcile(), reconcile()]);

    expect(executions.names('generation')).toEqual([VIDEO_ID]);
  });
});

describe.each(OVER)('an unfinished request whose execution stopped (%s)', (status) => {
  beforeEach(() => executions.put('generation', VIDEO_ID, status));

  test.each(['queued', 'processing'] as const)('is failed and refunded in full: %s', async (was) => {
    request.given({ status: was });

    await reconcile();

    expect(request.record()).toMatchObject({
      status: 'failed',
      error: LOST,
      refundThousandths: 50_000,
      finishedAt: at(100),
    });
    expect(account()).toMatchObject({ balanceThousandths: 150_000 });
    expect(entries()).toMatchObject([{ reason: 'refund', amountThousandths: 50_000, reference: VIDEO_ID }]);
    // Its task is then cancelled.
    expect(request.record()).toMatchObject(dueListing('LOOK', VIDEO_ID, at(100)));
    expect(counted()).toEqual([['ExecutionLost', {}]]);
  });

  test('loses files that were not recorded', async () => {
    request.given();
    bucket.put(outputObjectKey(VIDEO_ID, 0, 'mp4'));
    bucket.put('outputs/another');

    await reconcile();

    expect([...bucket.objects.keys()]).toEqual(['outputs/another']);
  });

  test('is settled, not failed, when its outputs are recorded', async () => {
    request.given({ outputs: [aStoredVideo()] });
    bucket.put(String(aStoredVideo().objectKey));

    await reconcile();

    expect(request.record()).toMatchObject({ status: 'succeeded', costThousandths: 50_000 });
    expect(bucket.objects.size).toBe(1);
    expect(entries()).toEqual([]);
    expect(request.record()).toMatchObject(
      dueListing('EXPIRE', VIDEO_ID, String(request.record()?.expiresAt)),
    );
  });

  test('is failed and refunded when none of its outputs could be stored', async () => {
    request.given({ outputs: [{ index: 0 }] });

    await reconcile();

    expect(request.record()).toMatchObject({ status: 'failed', refundThousandths: 50_000 });
  });

  test('is ended once by concurrent runs', async () => {
    request.given();

    await Promise.all([reconcile(), reconcile(), reconcile()]);

    expect(entries()).toHaveLength(1);
    expect(account()).toMatchObject({ balanceThousandths: 150_000 });
  });
});

describe('a request is left alone that', () => {
  test.each(['RUNNING', 'PENDING_REDRIVE'] as const)('has an execution that is %s', async (status) => {
    request.given();
    executions.put('generation', VIDEO_ID, status);
    const before = structuredClone(request.record());

    await reconcile();

    expect(request.record()).toEqual(before);
    expect(counted()).toEqual([]);
  });

  test('was deleted', async () => {
    await reconcile();

    expect(executions.client.calls()).toHaveLength(0);
  });

  test('is closed', async () => {
    request.given(ended);

    await reconcile();

    expect(executions.client.calls()).toHaveLength(0);
    expect(counted()).toEqual([]);
  });

  test('ended while this ran: it is not failed, and loses no file', async () => {
    request.given();
    executions.put('generation', VIDEO_ID, 'SUCCEEDED');
    bucket.put(String(aStoredVideo().objectKey));
    let reads = 0;
    memory.beforeCall = () => {
      if (reads++ === 1) request.given(ended);
    };

    await reconcile();

    expect(request.record()).toMatchObject({ status: 'succeeded' });
    expect(entries()).toEqual([]);
    expect(bucket.objects.size).toBe(1);
  });
});

test('a terminal request that was not closed is closed, whatever the status of its execution', async () => {
  request.given(ended);
  stillOpen();
  executions.put('generation', VIDEO_ID, 'ABORTED');

  await reconcile();

  expect(request.record()).toMatchObject({
    status: 'succeeded',
    ...dueListing('EXPIRE', VIDEO_ID, at(1000)),
  });
});

test('a request is not changed when the status of its execution cannot be read', async () => {
  request.given();
  executions.client.rejects(new Error('throttled'));

  await expect(reconcile()).rejects.toThrow('throttled');
  expect(request.record()).toMatchObject({ status: 'processing' });
});
