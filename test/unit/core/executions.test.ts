import '../builders/environment.ts';
import { ExecutionAlreadyExists, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { startGeneration } from '../../../core/executions.ts';

const stepFunctions = mockClient(SFNClient);
beforeEach(() => {
  stepFunctions.reset();
});

describe('starting the execution of a request', () => {
  test('names it by the request and gives it the id alone', async () => {
    await startGeneration('img_1');

    expect(stepFunctions.commandCalls(StartExecutionCommand).map(({ args }) => args[0].input)).toEqual([
      expect.objectContaining({ name: 'img_1', input: '{"requestId":"img_1"}' }),
    ]);
  });

  test('is done when a repeated start finds that it has ended already', async () => {
    const ended = new ExecutionAlreadyExists({ message: 'Execution Already Exists', $metadata: {} });
    stepFunctions.on(StartExecutionCommand).rejects(ended);

    await expect(startGeneration('img_1')).resolves.toBeUndefined();
  });

  test('rejects when it could not be started', async () => {
    stepFunctions.on(StartExecutionCommand).rejects(new Error('throttled'));

    await expect(startGeneration('img_1')).rejects.toThrow('throttled');
  });
});
