import '../../builders/environment.ts';
import { InvalidToken, SendTaskSuccessCommand, TaskDoesNotExist, TaskTimedOut } from '@aws-sdk/client-sfn';
import { describe, expect, test } from '@jest/globals';
import { letIntoDispatch, wakeExecution } from '../../../../core/executions/executions.ts';
import { executions } from '../../fakes/fresh-executions.ts';

describe('a waiting execution', () => {
  const wake = () => wakeExecution('token-1', { next: 'store' });
  const letIn = () => letIntoDispatch('token-1');

  test('is woken with the next step, in the shape of a step’s result', async () => {
    executions.wait('token-1');

    expect(await wake()).toBe(true);
    expect(executions.woken).toEqual([{ taskToken: 'token-1', output: { result: { next: 'store' } } }]);
  });

  test('is let into its dispatch without a result', async () => {
    executions.wait('token-1');

    expect(await letIn()).toBe(true);
    expect(executions.woken).toEqual([{ taskToken: 'token-1', output: {} }]);
  });

  test('ignores both once it has moved on', async () => {
    executions.wait('token-1');
    await wake();

    expect([await wake(), await letIn()]).toEqual([false, false]);
    expect(executions.woken).toHaveLength(1);
  });

  test.each([TaskTimedOut, TaskDoesNotExist, InvalidToken])(
    'may have gone: %p is no error',
    async (Refusal) => {
      const refusal = new Refusal({ message: 'no', $metadata: {} });
      executions.client.on(SendTaskSuccessCommand).rejects(refusal);

      expect([await wake(), await letIn()]).toEqual([false, false]);
    },
  );

  test('is reported when it cannot be reached', async () => {
    executions.client.on(SendTaskSuccessCommand).rejects(new Error('throttled'));

    await expect(wake()).rejects.toThrow('throttled');
    await expect(letIn()).rejects.toThrow('throttled');
  });
});
