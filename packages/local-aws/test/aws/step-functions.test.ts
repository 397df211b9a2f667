import {
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  ListStateMachinesCommand,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { describe, expect, test } from '@jest/globals';

import { MACHINES } from './machines.ts';
import { useMachines } from './step-functions-support.ts';
import { eventually, functionArn, machineArn, rejectionOf } from './support.ts';

const local = useMachines();

describe('executions', () => {
  test('a definition runs its states, and is described with their output', async () => {
    const { executionArn } = await local.start('echo', { say: 'hello' }, 'first');

    expect(executionArn).toBe('arn:aws:states:us-east-1:000000000000:execution:echo:first');
    expect(await local.ended(executionArn)).toMatchObject({
      ...{ status: 'SUCCEEDED', name: 'first', stateMachineArn: machineArn('echo') },
      input: JSON.stringify({ say: 'hello' }),
      output: JSON.stringify({ say: 'hello', answer: { heard: 'hello', status: 200 } }),
      ...{ startDate: expect.any(Date), stopDate: expect.any(Date) },
    });
  });

  test('the history has the event types, links and details that Step Functions gives', async () => {
    const { executionArn } = await local.start('echo', { say: 'hi!' });
    await local.ended(executionArn);

    const events = await local.historyOf(executionArn);

    expect(events.map(({ type }) => type)).toEqual([
      ...['ExecutionStarted', 'TaskStateEntered', 'TaskScheduled', 'TaskStarted', 'TaskSucceeded'],
      ...[
        'TaskStateExited',
        'ChoiceStateEntered',
        'ChoiceStateExited',
        'WaitStateEntered',
        'WaitStateExited',
      ],
      ...['PassStateEntered', 'PassStateExited', 'ExecutionSucceeded'],
    ]);
    expect(events.map(({ id }) => id)).toEqual(events.map((_event, at) => at + 1));
    expect(events.map(({ previousEventId }) => previousEventId)).toEqual(events.map((_event, at) => at));
    expect(events[0]?.executionStartedEventDetails).toMatchObject({
      ...{ input: '{"say":"hi!"}', roleArn: 'arn:aws:iam::000000000000:role/echo-role' },
    });
    expect(events[1]?.stateEnteredEventDetails).toMatchObject({
      ...{ name: 'Call function', input: '{"say":"hi!"}' },
    });
    expect(events[2]?.taskScheduledEventDetails).toEqual({
      ...{ resourceType: 'lambda', resource: 'invoke', region: 'us-east-1' },
      parameters: JSON.stringify({ FunctionName: functionArn('echo'), Payload: { said: 'hi!' } }),
    });
    expect(events[4]?.taskSucceededEventDetails?.output).toBe(
      '{"ExecutedVersion":"$LATEST","Payload":{"said":"hi!"},"StatusCode":200}',
    );
    expect(events.at(-1)?.executionSucceededEventDetails?.output).toContain('"heard":"hi!"');
    expect(events[0]?.timestamp?.getTime()).toBeGreaterThan(Date.now() - 60_000);
  });

  test('a function that fails is called again, and its error caught with its payload as the cause', async () => {
    const { output, executionArn } = await local.run('failing', { id: 'flaky', failures: 2 });

    const caught = output as { Error: string; Cause: string };
    expect([caught.Error, JSON.parse(caught.Cause)]).toEqual([
      'ProviderBusyError',
      { errorType: 'ProviderBusyError', errorMessage: 'try later', stackTrace: [] },
    ]);
    const events = await local.historyOf(executionArn);
    expect(events.filter(({ type }) => type?.startsWith('Task')).map(({ type }) => type)).toEqual([
      ...['TaskStateEntered', 'TaskScheduled', 'TaskStarted', 'TaskFailed'],
      ...['TaskScheduled', 'TaskStarted', 'TaskFailed', 'TaskStateExited'],
    ]);
    expect(events.find(({ type }) => type === 'TaskFailed')?.taskFailedEventDetails).toMatchObject({
      ...{ error: caught.Error, cause: caught.Cause },
    });
  });

  test('a call that the role does not allow fails the task; allowed ones are counted for the machine', async () => {
    const { status, error, cause } = await local.run('bounded', {});

    expect([status, error]).toEqual(['FAILED', 'Lambda.AWSLambdaException']);
    expect(cause).toContain(
      `User: bounded-machine is not authorized to perform: lambda:InvokeFunction on resource: ${functionArn('echo')}`,
    );
    expect(local.endpoint.calls()).not.toHaveProperty('bounded-machine');
    expect(local.endpoint.calls()['failing-machine']).toEqual({ 'lambda:Invoke': 2 });
  });

  test('the history is paged, given without data, and not reversed', async () => {
    const { executionArn } = await local.start('echo', { say: 'hi!' });
    await local.ended(executionArn);

    const first = await local.sfn.send(new GetExecutionHistoryCommand({ executionArn, maxResults: 5 }));
    const rest = await local.historyOf(executionArn, { nextToken: first.nextToken });
    const bare = await local.historyOf(executionArn, { includeExecutionData: false });

    expect(first.events?.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
    expect(rest.map(({ id }) => id)).toEqual([6, 7, 8, 9, 10, 11, 12, 13]);
    expect(bare[1]?.stateEnteredEventDetails).toEqual({ name: 'Call function' });
    const reversed = rejectionOf(local.historyOf(executionArn, { reverseOrder: true }));
    expect((await reversed).name).toBe('ValidationException');
  });

  test('the same name and input is the same execution while it runs, and refused otherwise', async () => {
    const first = await local.start('slow', { seconds: 60 }, 'twice');

    const same = await local.start('slow', { seconds: 60 }, 'twice');
    const other = await rejectionOf(local.start('slow', { seconds: 61 }, 'twice'));
    await local.sfn.send(new StopExecutionCommand({ executionArn: first.executionArn }));
    const late = await rejectionOf(local.start('slow', { seconds: 60 }, 'twice'));

    expect(same).toMatchObject({ executionArn: first.executionArn, startDate: first.startDate });
    expect([other.name, late.name]).toEqual(['ExecutionAlreadyExists', 'ExecutionAlreadyExists']);
  });

  test.each([
    ['a name with a slash', { name: 'a/b' }, 'InvalidName'],
    ['a name of 81 characters', { name: 'a'.repeat(81) }, 'InvalidName'],
    ['an input that is not JSON', { input: '{' }, 'InvalidExecutionInput'],
    ['an input over 256 KiB', { input: JSON.stringify('x'.repeat(262_143)) }, 'ValidationException'],
    ['an unknown machine', { stateMachineArn: machineArn('none') }, 'StateMachineDoesNotExist'],
  ])('%s is refused', async (_case, changes, code) => {
    const command = new StartExecutionCommand({ stateMachineArn: machineArn('echo'), ...changes });

    expect((await rejectionOf(local.sfn.send(command))).name).toBe(code);
  });

  test('a name may hold any other character', async () => {
    expect(await local.run('echo', { say: 'x' }, 'größe.(1)=@é')).toMatchObject({ status: 'SUCCEEDED' });
  });

  test('a stopped execution begins no further state', async () => {
    const { executionArn } = await local.start('slow', { seconds: 60 });
    await eventually(
      () => local.historyOf(executionArn),
      (events) => events.length === 2,
    );

    const { stopDate } = await local.sfn.send(
      new StopExecutionCommand({ executionArn, error: 'Operator', cause: 'why not' }),
    );

    expect(await local.describeExecution(executionArn)).toMatchObject({
      status: 'ABORTED',
      error: 'Operator',
      cause: 'why not',
      stopDate,
    });
    const events = await local.historyOf(executionArn);
    expect(events.map(({ type }) => type)).toEqual([
      'ExecutionStarted',
      'WaitStateEntered',
      'ExecutionAborted',
    ]);
    expect(local.calls).not.toContain('noted');
  });

  test('the answer of a function is ignored once its execution was stopped', async () => {
    const { executionArn } = await local.start('gated', {});
    await eventually(
      () => local.isGateReached(),
      (isReached) => isReached,
    );

    await local.sfn.send(new StopExecutionCommand({ executionArn }));
    await local.openGate();

    expect(await local.describeExecution(executionArn)).toMatchObject({ status: 'ABORTED' });
    expect((await local.historyOf(executionArn)).map(({ type }) => type)).toEqual([
      ...['ExecutionStarted', 'TaskStateEntered', 'TaskScheduled', 'TaskStarted', 'ExecutionAborted'],
    ]);
    expect(local.calls).not.toContain('noted');
  });

  test('stopping an execution that has ended changes nothing', async () => {
    const { executionArn } = await local.start('echo', { say: 'x' });
    const { stopDate } = await local.ended(executionArn);

    const stopped = await local.sfn.send(new StopExecutionCommand({ executionArn }));

    expect(stopped.stopDate).toEqual(stopDate);
    expect((await local.describeExecution(executionArn)).status).toBe('SUCCEEDED');
  });

  test('an execution over its TimeoutSeconds is TIMED_OUT', async () => {
    expect(await local.run('limited', {})).toMatchObject({ status: 'TIMED_OUT', error: 'States.Timeout' });
  });

  test('executions are listed newest first, by status, in pages', async () => {
    const names = ['list-1', 'list-2', 'list-3', 'list-4'];
    for (const name of names) await local.run('large', {}, name);
    const list = (rest: object) =>
      local.sfn.send(new ListExecutionsCommand({ stateMachineArn: machineArn('large'), ...rest }));

    const first = await list({ maxResults: 3, statusFilter: 'FAILED' });
    await local.run('large', {}, 'list-5');
    const second = await list({ nextToken: first.nextToken, statusFilter: 'FAILED' });

    expect(first.executions?.map(({ name }) => name)).toEqual(['list-4', 'list-3', 'list-2']);
    expect(second.executions?.map(({ name, status }) => [name, status])).toEqual([['list-1', 'FAILED']]);
    expect((await list({ statusFilter: 'RUNNING' })).executions).toEqual([]);
  });

  test('machines are listed', async () => {
    const { stateMachines } = await local.sfn.send(new ListStateMachinesCommand({}));

    expect(stateMachines?.map(({ name, type }) => [name, type])).toEqual(
      MACHINES.map(({ name }) => [name, 'STANDARD']),
    );
  });

  test('an execution that does not exist is ExecutionDoesNotExist', async () => {
    const arn = 'arn:aws:states:us-east-1:000000000000:execution:echo:none';

    const ofNoMachine = arn.replace(':echo:', ':nothing:');
    const ask = [
      local.describeExecution(arn),
      local.describeExecution(ofNoMachine),
      local.historyOf(arn),
      local.sfn.send(new StopExecutionCommand({ executionArn: arn })),
    ];

    const refusals = await Promise.all(ask.map(rejectionOf));

    expect(refusals.map(({ name }) => name)).toEqual(Array(4).fill('ExecutionDoesNotExist'));
    expect((await rejectionOf(local.describeExecution('echo:none'))).name).toBe('InvalidArn');
  });
});
