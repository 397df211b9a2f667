import { describe, expect, test } from '@jest/globals';

import { useMachines } from './step-functions-support.ts';
import { functionArn } from './support.ts';

const local = useMachines();

describe('tasks', () => {
  test('a failing function is retried by the name of its error', async () => {
    const { status, output, executionArn } = await local.run('failing', { id: 'flaky-1', failures: 2 });

    expect([status, output]).toEqual([
      'SUCCEEDED',
      { ExecutedVersion: '$LATEST', Payload: { attempts: 3 }, StatusCode: 200 },
    ]);
    const events = await local.historyOf(executionArn);
    expect(events.filter(({ type }) => type?.startsWith('Task')).map(({ type }) => type)).toEqual([
      'TaskStateEntered',
      ...['TaskScheduled', 'TaskStarted', 'TaskFailed'],
      ...['TaskScheduled', 'TaskStarted', 'TaskFailed'],
      ...['TaskScheduled', 'TaskStarted', 'TaskSucceeded'],
      'TaskStateExited',
    ]);
    expect(events.find(({ type }) => type === 'TaskFailed')?.taskFailedEventDetails).toMatchObject({
      error: 'ProviderBusyError',
      cause: expect.stringContaining('"errorMessage":"try later"'),
    });
  });

  test('an error after the last retry is caught with the payload as its cause', async () => {
    const { output } = await local.run('failing', { id: 'flaky-2', failures: 9 });

    expect(output).toEqual({
      error: 'ProviderBusyError',
      cause: { errorType: 'ProviderBusyError', errorMessage: 'try later', stackTrace: [] },
    });
  });

  test('an execution starts another without waiting; a used name can be caught', async () => {
    const first = await local.run('parent', { id: 'child-1' });
    const again = await local.run('parent', { id: 'child-1' });

    const child = 'arn:aws:states:us-east-1:000000000000:execution:failing:child-1';
    expect(first.output).toMatchObject({ child: { ExecutionArn: child } });
    expect(JSON.parse((await local.describeExecution(child)).input ?? '')).toEqual({
      id: 'child-1',
      failures: 9,
    });
    // The child still runs with the same input, so starting it again is no error, as on AWS.
    expect(again.output).toMatchObject({ child: { ExecutionArn: child } });
    await local.ended(child);
    expect((await local.run('parent', { id: 'child-1' })).output).toMatchObject({
      there: { Error: 'StepFunctions.ExecutionAlreadyExistsException' },
    });
  });

  test('DynamoDB is called without a function; its errors are caught by name', async () => {
    const first = await local.run('storing', { id: 'a' }, 'storing-1');
    const second = await local.run('storing', { id: 'a' }, 'storing-2');

    expect(first.output).toEqual({ id: 'a', record: { started: 'storing-1' } });
    expect(second.output).toMatchObject({
      refused: { Error: 'DynamoDB.ConditionalCheckFailedException' },
      record: { started: 'storing-1' },
    });
  });

  test('a call that the role does not allow fails the task', async () => {
    const { status, error, cause } = await local.run('bounded', {});

    expect([status, error]).toEqual(['FAILED', 'Lambda.AWSLambdaException']);
    expect(cause).toContain(
      `User: bounded-machine is not authorized to perform: lambda:InvokeFunction on resource: ${functionArn('echo')}`,
    );
  });

  test('calls of tasks are counted for the machine', () => {
    expect(local.endpoint.calls()['storing-machine']).toEqual({
      'dynamodb:UpdateItem': 2,
      'dynamodb:GetItem': 2,
    });
  });
});
