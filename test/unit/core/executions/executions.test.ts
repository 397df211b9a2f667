import {
  DescribeExecutionCommand,
  InvalidToken,
  SendTaskSuccessCommand,
  StartExecutionCommand,
  TaskDoesNotExist,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import { describe, expect, test } from '@jest/globals';
import {
  admitToDispatch,
  findWorkflowStatus,
  startExpiry,
  startWebhookDelivery,
  startWorkflow,
  wakeExecution,
} from '../../../../core/executions/executions.ts';
import { ACCOUNT_ID, anImageRequest } from '../../builders/entities.ts';
import { executions } from '../../fakes/fresh-executions.ts';

const GENERATION = 'arn:aws:states:us-east-1:111122223333:stateMachine:generation';
const EXPIRY = 'arn:aws:states:us-east-1:111122223333:stateMachine:expiry';
const DELIVERIES = 'arn:aws:states:us-east-1:111122223333:stateMachine:webhook-delivery';
const AT = new Date('2026-11-21T08:00:30.000Z');
const EXPIRY_NAME = '2026-11-21T08-00-30-000Z';
const inputs = (command: typeof StartExecutionCommand) =>
  executions.client.commandCalls(command).map(({ args }) => args[0].input);

describe('starting an execution', () => {
  test('of a request names it by the request and shows whose it is, and nothing personal', async () => {
    await startWorkflow(anImageRequest({ requestId: 'img_1' }));

    expect(inputs(StartExecutionCommand)).toEqual([
      {
        stateMachineArn: GENERATION,
        name: 'img_1',
        input: `{"requestId":"img_1","model":"xQI3Pro","accountId":"${ACCOUNT_ID}"}`,
      },
    ]);
  });

  test('of an expiry names it by an instant, in characters that a name may have, and begins at the first page', async () => {
    await startExpiry(AT, { pages: 0 });

    expect(inputs(StartExecutionCommand)).toEqual([
      { stateMachineArn: EXPIRY, name: EXPIRY_NAME, input: '{"cursor":{"pages":0}}' },
    ]);
  });

  test('of a webhook delivery names it by the request, or with a suffix, and begins at its next attempt', async () => {
    const subject = { id: 'img_1', accountId: ACCOUNT_ID, model: 'xQI3Pro' };
    await startWebhookDelivery(DELIVERIES, subject, { next: { waitSeconds: 5, attemptsMade: 1 } });
    await startWebhookDelivery(DELIVERIES, subject, { suffix: '-2' });
    const shown = { requestId: 'img_1', accountId: ACCOUNT_ID, model: 'xQI3Pro' };

    expect(executions.started).toMatchObject([
      {
        ...{ machine: 'webhook-delivery', name: 'img_1' },
        input: { ...shown, step: { result: { next: 'wait', waitSeconds: 5, attemptsMade: 1 } } },
      },
      {
        ...{ machine: 'webhook-delivery', name: 'img_1-2' },
        input: { ...shown, step: { result: { next: 'wait', waitSeconds: 0, attemptsMade: 0 } } },
      },
    ]);
  });

  const starts = [
    ['a request', () => startWorkflow(anImageRequest({ requestId: 'img_1' }))],
    ['an expiry', () => startExpiry(AT, { pages: 0 })],
    ['a webhook delivery', () => startWebhookDelivery(DELIVERIES, { id: 'img_1', accountId: ACCOUNT_ID })],
  ] as const;

  test.each(starts)('of %s again starts it once', async (_, start) => {
    await start();
    await start();

    expect(executions.started).toHaveLength(1);
  });

  test.each(starts)('of %s does nothing when it has finished already', async (_, start) => {
    executions.put('generation', 'img_1', 'SUCCEEDED');
    executions.put('expiry', EXPIRY_NAME, 'SUCCEEDED');
    executions.put('webhook-delivery', 'img_1', 'FAILED');

    await expect(start()).resolves.toBeUndefined();
  });

  test.each(starts)('of %s rejects when it fails', async (_, start) => {
    executions.refuseStarts(new Error('throttled'));

    await expect(start()).rejects.toThrow('throttled');
  });
});

describe('the status of the execution of a request', () => {
  test.each(['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED', 'PENDING_REDRIVE'] as const)(
    'is that of Step Functions: %s',
    async (status) => {
      executions.put('generation', 'img_1', status);

      expect(await findWorkflowStatus('img_1')).toBe(status);
      expect(executions.client.commandCalls(DescribeExecutionCommand)[0]?.args[0].input).toEqual({
        executionArn: 'arn:aws:states:us-east-1:111122223333:execution:generation:img_1',
      });
    },
  );

  test('is the reported end while it is described as running or not at all, unless it was redriven', async () => {
    expect(await findWorkflowStatus('img_1', 'ABORTED')).toBe('ABORTED');
    executions.put('generation', 'img_1', 'RUNNING');
    expect(await findWorkflowStatus('img_1', 'ABORTED')).toBe('ABORTED');

    executions.client.on(DescribeExecutionCommand).resolves({ status: 'RUNNING', redriveCount: 1 });
    expect(await findWorkflowStatus('img_1', 'ABORTED')).toBe('RUNNING');
  });

  test('is undefined when there never was one', async () => {
    executions.put('expiry', 'img_1', 'RUNNING');

    expect(await findWorkflowStatus('img_1')).toBeUndefined();
  });

  test('rejects when it cannot be read', async () => {
    executions.client.on(DescribeExecutionCommand).rejects(new Error('throttled'));

    await expect(findWorkflowStatus('img_1')).rejects.toThrow('throttled');
  });
});

describe('a waiting execution', () => {
  const wake = () => wakeExecution('token-1', { next: 'store' });
  const admitWaiting = () => admitToDispatch('token-1');

  test('is woken with the next step, in the shape of a step’s result', async () => {
    executions.wait('token-1');

    expect(await wake()).toBe(true);
    expect(executions.woken).toEqual([{ taskToken: 'token-1', output: { result: { next: 'store' } } }]);
  });

  test('is let into its dispatch without a result', async () => {
    executions.wait('token-1');

    expect(await admitWaiting()).toBe(true);
    expect(executions.woken).toEqual([{ taskToken: 'token-1', output: {} }]);
  });

  test('ignores both once it has moved on', async () => {
    executions.wait('token-1');
    await wake();

    expect([await wake(), await admitWaiting()]).toEqual([false, false]);
    expect(executions.woken).toHaveLength(1);
  });

  test.each([TaskTimedOut, TaskDoesNotExist, InvalidToken])(
    'may have gone: %p is no error',
    async (Refusal) => {
      const refusal = new Refusal({ message: 'no', $metadata: {} });
      executions.client.on(SendTaskSuccessCommand).rejects(refusal);

      expect([await wake(), await admitWaiting()]).toEqual([false, false]);
    },
  );

  test('is reported when it cannot be reached', async () => {
    executions.client.on(SendTaskSuccessCommand).rejects(new Error('throttled'));

    await expect(wake()).rejects.toThrow('throttled');
    await expect(admitWaiting()).rejects.toThrow('throttled');
  });
});
