import '../../builders/environment.ts';
import {
  InvalidToken,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  TaskDoesNotExist,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { keepExecutionWaiting, wakeExecution } from '../../../../core/workflow/task-tokens.ts';
import { MemoryExecutions } from '../../fakes/memory-executions.ts';

const executions = new MemoryExecutions();
beforeEach(() => executions.reset());

describe('a waiting execution', () => {
  const wake = () => wakeExecution('token-1', { next: 'store' });
  const keep = () => keepExecutionWaiting('token-1');

  test('is woken with the next step, in the shape of a step’s result', async () => {
    executions.wait('token-1');

    expect(await wake()).toBe(true);
    expect(executions.woken).toEqual([{ taskToken: 'token-1', output: { result: { next: 'store' } } }]);
  });

  test('is sent a heartbeat', async () => {
    executions.wait('token-1');

    expect(await keep()).toBe(true);
    expect(executions.heartbeats).toEqual(['token-1']);
  });

  test('ignores both once it has moved on', async () => {
    executions.wait('token-1');
    await wake();

    expect([await wake(), await keep()]).toEqual([false, false]);
    expect(executions.woken).toHaveLength(1);
  });

  test.each([TaskTimedOut, TaskDoesNotExist, InvalidToken])(
    'may have gone: %p is no error',
    async (Refusal) => {
      const refusal = new Refusal({ message: 'no', $metadata: {} });
      executions.client.on(SendTaskSuccessCommand).rejects(refusal);
      executions.client.on(SendTaskHeartbeatCommand).rejects(refusal);

      expect([await wake(), await keep()]).toEqual([false, false]);
    },
  );

  test('is reported when it cannot be reached', async () => {
    executions.client.on(SendTaskSuccessCommand).rejects(new Error('throttled'));
    executions.client.on(SendTaskHeartbeatCommand).rejects(new Error('throttled'));

    await expect(wake()).rejects.toThrow('throttled');
    await expect(keep()).rejects.toThrow('throttled');
  });
});
