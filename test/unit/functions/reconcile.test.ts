import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { accountKey, dueListing, endUserKey, requestKey } from '../../../core/table/keys.ts';
import { aLambdaContext } from '../builders/api-events.ts';
import { NOW } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anEndUser,
  anImageRequest,
  aStoredOutput,
  EMAIL,
  putRequest,
  REQUEST_ID,
} from '../builders/entities.ts';
import { executions } from '../fakes/fresh-executions.ts';
import { memory } from '../fakes/fresh-table.ts';
import { metricsCounted } from '../fakes/metrics.ts';
import '../fakes/fresh-bucket.ts';

const { deliveryStartedAt, newDeliverySuffix } = await import('../../../core/webhooks/webhook-rules.ts');
const pause = jest.fn<(milliseconds: number) => Promise<void>>();
jest.unstable_mockModule('node:timers/promises', () => ({ setTimeout: pause }));
const { handler } = await import('../../../functions/events/reconcile.ts');
const { handler: lostHandler } = await import('../../../functions/events/reconcile-lost.ts');

beforeEach(() => {
  memory.put(accountKey(ACCOUNT_ID), anAccount());
  memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser());
  jest.useFakeTimers({ now: NOW, doNotFake: ['setTimeout', 'setImmediate', 'nextTick', 'queueMicrotask'] });
  pause.mockReset().mockImplementation(async (milliseconds) => jest.setSystemTime(Date.now() + milliseconds));
});
afterEach(() => {
  jest.useRealTimers();
});

const run = (event: unknown) => handler(event, aLambdaContext());
const record = () => memory.get(requestKey(REQUEST_ID));

describe('on a schedule', () => {
  test('starts an execution that never started', async () => {
    putRequest(memory, anImageRequest({ createdAt: new Date(NOW.getTime() - 61_000).toISOString() }));

    await run({ everySeconds: 60 });

    expect(executions.names('generation')).toEqual([REQUEST_ID]);
  });

  test('reports how much is open, once in a run of several ticks', async () => {
    const counted = metricsCounted();
    putRequest(memory, anImageRequest({ createdAt: new Date(NOW.getTime() - 10_000).toISOString() }));

    await run({ everySeconds: 20 });

    expect(counted().filter(([name]) => name === 'OpenRequests')).toEqual([['OpenRequests', {}]]);
  });

  test('starts the expiry of files whose time is over, whenever some are due', async () => {
    const expiresAt = new Date(NOW.getTime() - 10_000).toISOString();
    const ended = { status: 'succeeded' as const, outputs: [aStoredOutput(0)], expiresAt };
    putRequest(memory, anImageRequest(ended));
    memory.patch(requestKey(REQUEST_ID), dueListing('EXPIRE', REQUEST_ID, expiresAt));

    await run({ everySeconds: 20 });

    expect(executions.started).toMatchObject(
      Array(3).fill({ machine: 'expiry', input: { cursor: { pages: 0 } } }),
    );
  });

  test.each([{}, { everySeconds: 0 }, { everySeconds: '60' }, null])(
    'refuses the input %j',
    async (event) => {
      await expect(run(event)).rejects.toThrow();
      expect(executions.client.calls()).toHaveLength(0);
    },
  );
});

describe('on the event of a lost execution', () => {
  const run = (event: unknown) => lostHandler(event, aLambdaContext());
  /** The fields used of the event as EventBridge delivers it. */
  const lost = (machine: string, input: object | string = { requestId: REQUEST_ID }, more: object = {}) => ({
    'detail-type': 'Step Functions Execution Status Change',
    detail: {
      stateMachineArn: `arn:aws:states:us-east-1:111122223333:stateMachine:${machine}`,
      ...{ name: REQUEST_ID, status: 'ABORTED', stopDate: 1_795_000_060_000 },
      input: typeof input === 'string' ? input : JSON.stringify(input),
      ...more,
    },
  });

  test('fails and refunds the request it owned', async () => {
    putRequest(memory, anImageRequest({ status: 'processing' }));
    executions.put('generation', REQUEST_ID, 'ABORTED');

    await run(lost('generation'));

    expect(record()).toMatchObject({ status: 'failed', refundThousandths: 4_000 });
    expect(memory.get(accountKey(ACCOUNT_ID))).toMatchObject({ balanceThousandths: 104_000 });
  });

  describe("of a webhook's delivery", () => {
    const shown = { requestId: REQUEST_ID, accountId: ACCOUNT_ID, model: 'xQI3Pro' };
    const failed = (name: string, status = 'FAILED') => lost('webhook-delivery', shown, { name, status });
    const deliveries = () => executions.names('webhook-delivery');

    test.each(['FAILED', 'TIMED_OUT'])('that %s starts another one, once for each report', async (status) => {
      putRequest(memory, anImageRequest({ status: 'processing' }));
      await run(failed(REQUEST_ID, status));
      await run(failed(REQUEST_ID, status));

      const [delivery = '', ...more] = deliveries();
      expect(more).toEqual([]);
      expect(deliveryStartedAt(delivery, { id: REQUEST_ID, at: '' })).toBe(
        new Date(1_795_000_060_000).toISOString(),
      );
      expect(executions.started[0]?.input).toEqual({
        ...shown,
        step: { result: { next: 'wait', waitSeconds: 0, attemptsMade: 0 } },
      });
      // The request itself is not touched.
      expect(record()).toMatchObject({ status: 'processing' });
    });

    test('that was not the first one is not started again', async () => {
      await run(failed(`${REQUEST_ID}${newDeliverySuffix(NOW)}`));

      expect(deliveries()).toEqual([]);
    });
  });

  test('reads no other request', async () => {
    await run(lost('generation'));

    expect(memory.client.commandCalls(QueryCommand)).toHaveLength(0);
  });

  test.each(['{', '{}', '{"requestId":7}'])(
    'fails on an input that is not ours, so that it is noticed: %s',
    async (input) => {
      await expect(run(lost('generation', input))).rejects.toThrow();
    },
  );

  test('throws errors, so that the event is delivered again', async () => {
    putRequest(memory, anImageRequest({ status: 'processing' }));
    executions.client.rejects(new Error('throttled'));

    await expect(run(lost('generation'))).rejects.toThrow('throttled');
    expect(record()).toMatchObject({ status: 'processing' });
  });
});
