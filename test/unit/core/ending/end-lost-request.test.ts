import { beforeEach, describe, expect, test } from '@jest/globals';
import { reconcileRequest } from '../../../../core/ending/end-lost-request.ts';
import type { VideoRequest } from '../../../../core/requests/request-rules.ts';
import { accountKey, dueListing, ledgerPartition } from '../../../../core/table/keys.ts';
import { ACCOUNT_ID, aStoredVideo, VIDEO_ID } from '../../builders/entities.ts';
import {
  at,
  bucket,
  clockAt,
  dueAt,
  ended,
  executions,
  listed,
  memory,
  request,
} from '../../builders/reconciling.ts';
import { metricsCounted } from '../../fakes/metrics.ts';

let counted = metricsCounted();
beforeEach(() => {
  counted = metricsCounted();
});

const reconcile = () => reconcileRequest(VIDEO_ID, clockAt(100));
const account = () => memory.get(accountKey(ACCOUNT_ID));
const entries = () => memory.partition(ledgerPartition(ACCOUNT_ID));
const FILE = String(aStoredVideo().objectKey);
/** Puts the request with an execution that stopped. */
const givenStopped = (overrides: Partial<VideoRequest> = {}) => {
  request.given(overrides);
  executions.put('generation', VIDEO_ID, 'FAILED');
};

describe('a request whose execution never started', () => {
  test.each(['queued', 'processing'] as const)('gets one, and is not changed: %s', async (status) => {
    request.given({ status });

    expect(await reconcile()).toBe(false);

    expect(executions.started).toEqual([
      {
        ...{ machine: 'generation', name: VIDEO_ID, status: 'RUNNING' },
        input: { requestId: VIDEO_ID, model: 'xW3.0s', accountId: ACCOUNT_ID },
      },
    ]);
    expect(request.record()).toMatchObject({ status });
    expect(entries()).toEqual([]);
    expect(counted()).toEqual([['ExecutionLost', {}]]);
  });
});

describe('an unfinished request whose execution stopped', () => {
  test.each([
    ['SUCCEEDED', 'queued'],
    ['FAILED', 'processing'],
    ['TIMED_OUT', 'queued'],
    ['ABORTED', 'processing'],
  ] as const)('is failed and refunded in full: %s, %s', async (status, was) => {
    request.given({ status: was });
    executions.put('generation', VIDEO_ID, status);

    expect(await reconcile()).toBe(false);

    expect(request.record()).toMatchObject({
      status: 'failed',
      error: { code: 'internal_error', message: 'The work on this request was lost on our side.' },
      refundThousandths: 50_000,
      finishedAt: at(100),
      // Its task is then cancelled.
      ...listed('CHECK', 100),
    });
    expect(account()).toMatchObject({ balanceThousandths: 150_000 });
    expect(entries()).toMatchObject([{ reason: 'refund', amountThousandths: 50_000, reference: VIDEO_ID }]);
    expect(counted()).toEqual([['ExecutionLost', {}]]);
  });

  test('is settled, not failed, when its outputs are recorded', async () => {
    givenStopped({ outputs: [aStoredVideo()] });
    bucket.put(FILE);

    await reconcile();

    expect(request.record()).toMatchObject({ status: 'succeeded', costThousandths: 50_000 });
    expect(bucket.objects.size).toBe(1);
    expect(entries()).toEqual([]);
    expect(request.record()).toMatchObject(
      dueListing('EXPIRE', VIDEO_ID, String(request.record()?.expiresAt)),
    );
  });

  test('is not failed, and loses no file, when it ends while this runs', async () => {
    givenStopped();
    bucket.put(FILE);
    let reads = 0;
    memory.beforeCall = () => {
      if (reads++ === 1) request.given(ended);
    };

    await reconcile();

    expect(request.record()).toMatchObject({ status: 'succeeded' });
    expect(entries()).toEqual([]);
    expect(bucket.objects.size).toBe(1);
  });

  test('is not changed when the status of its execution cannot be read', async () => {
    request.given();
    executions.client.rejects(new Error('throttled'));

    await expect(reconcile()).rejects.toThrow('throttled');
    expect(request.record()).toMatchObject({ status: 'processing' });
  });
});

describe('a request is left alone that', () => {
  test.each(['RUNNING', 'PENDING_REDRIVE'] as const)('has an execution that is %s', async (status) => {
    request.given();
    executions.put('generation', VIDEO_ID, status);
    const before = structuredClone(request.record());

    expect(await reconcile()).toBe(true);

    expect(request.record()).toEqual(before);
    expect(counted()).toEqual([]);
  });

  test.each([
    ['was deleted', () => undefined],
    ['is closed', () => request.given(ended)],
  ])('%s', async (_, put) => {
    put();

    await reconcile();

    expect(executions.client.calls()).toHaveLength(0);
    expect(counted()).toEqual([]);
  });
});

test('a terminal request that was not closed is closed with its files, whatever the status of its execution', async () => {
  givenStopped(ended);
  dueAt(0);
  bucket.put(FILE);

  await reconcile();

  expect(request.record()).toMatchObject({
    status: 'succeeded',
    ...dueListing('EXPIRE', VIDEO_ID, at(1000)),
  });
  expect(bucket.objects.size).toBe(1);
});

test.each([
  ['FAILED', 1],
  ['TIMED_OUT', 1],
  ['ABORTED', 0],
  [undefined, 0],
] as const)(
  'an execution that is reported %s after its request had ended counts %i as lost',
  async (reported, times) => {
    givenStopped(ended);

    await reconcileRequest(VIDEO_ID, clockAt(100), reported);

    expect(counted()).toEqual(Array(times).fill(['ExecutionLost', {}]));
  },
);
