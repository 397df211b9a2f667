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

describe('news for an execution that waits', () => {
  const wake = () => wakeExecution('token-1', { next: 'store' });
  const keep = () => keepExecutionWaiting('token-1');

  test('wakes it with the next step, as a function of its would have given it', async () => {
    executions.wait('token-1');

    expect(await wake()).toBe(true);
    expect(executions.woken).toEqual([{ taskToken: 'token-1', output: { result: { next: 'store' } } }]);
  });

  test('may be that there is none yet', async () => {
    executions.wait('token-1');

    expect(await keep()).toBe(true);
    expect(executions.heartbeats).toEqual(['token-1']);
  });

  test('comes too late once it has gone on', async () => {
    executions.wait('token-1');
    await wake();

    expect([await wake(), await keep()]).toEqual([false, false]);
    expect(executions.woken).toHaveLength(1);
  });

  test.each([TaskTimedOut, TaskDoesNotExist, InvalidToken])(
    'does no harm to one whose token is not good any more: %p',
    async (Refusal) => {
      const refusal = new Refusal({ message: 'no', $metadata: {} });
      executions.client.on(SendTaskSuccessCommand).rejects(refusal);
      executions.client.on(SendTaskHeartbeatCommand).rejects(refusal);

      expect([await wake(), await keep()]).toEqual([false, false]);
    },
  );

  test('is not lost without a word when it cannot be told', async () => {
    executions.client.on(SendTaskSuccessCommand).rejects(new Error('throttled'));
    executions.client.on(SendTaskHeartbeatCommand).rejects(new Error('throttled'));

    await expect(wake()).rejects.toThrow('throttled');
    await expect(keep()).rejects.toThrow('throttled');
  });
});
