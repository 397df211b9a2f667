import {
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';

import { Callbacks } from '../../src/aws/step-functions/interpreter/callbacks.ts';
import { systemClock } from '../../src/aws/step-functions/interpreter/clock.ts';
import { useMachines } from './step-functions-support.ts';
import { allow, aPrincipal, clientsOf, eventually, machineArn, rejectionOf } from './support.ts';

const local = useMachines();

describe('task tokens', () => {
  test('a task waits for its token, and continues with the output', async () => {
    const { executionArn } = await local.start('callback', { id: 1 });
    const taskToken = await local.nextToken();
    await eventually(
      () => local.historyOf(executionArn),
      (events) => events.some(({ type }) => type === 'TaskSubmitted'),
    );
    await local.sfn.send(new SendTaskHeartbeatCommand({ taskToken }));
    expect((await local.describeExecution(executionArn)).status).toBe('RUNNING');

    await local.succeed(taskToken, '{"url":"x"}');

    expect(JSON.parse((await local.ended(executionArn)).output ?? '')).toEqual({
      id: 1,
      result: { url: 'x' },
    });
    const events = await local.historyOf(executionArn);
    expect(events.map(({ type }) => type)).toContain('TaskSubmitted');
    expect(events.find(({ type }) => type === 'TaskSucceeded')?.taskSucceededEventDetails).toMatchObject({
      resource: 'invoke.waitForTaskToken',
      output: '{"url":"x"}',
    });
  });

  test('a failure sent for a token is retried with a new token', async () => {
    const { executionArn } = await local.start('callback', {});
    const first = await local.nextToken();

    await local.sfn.send(new SendTaskFailureCommand({ taskToken: first, error: 'TryAgain', cause: 'busy' }));
    const second = await local.nextToken();
    await local.sfn.send(new SendTaskSuccessCommand({ taskToken: second, output: '1' }));

    expect(second).not.toBe(first);
    expect(JSON.parse((await local.ended(executionArn)).output ?? '')).toEqual({ result: 1 });
    const scheduled = (await local.historyOf(executionArn)).filter(({ type }) => type === 'TaskScheduled');
    expect(scheduled.map(({ taskScheduledEventDetails }) => taskScheduledEventDetails?.parameters)).toEqual([
      expect.stringContaining('"retries":0'),
      expect.stringContaining('"retries":1'),
    ]);
  });

  test('a failure sent for a token is caught with its error and cause', async () => {
    const { executionArn } = await local.start('callback', {});

    await local.sfn.send(
      new SendTaskFailureCommand({ taskToken: await local.nextToken(), error: 'Gone', cause: 'no task' }),
    );

    expect(JSON.parse((await local.ended(executionArn)).output ?? '')).toEqual({
      Error: 'Gone',
      Cause: 'no task',
    });
  });

  test('a token works once; an invented one never', async () => {
    const { executionArn } = await local.start('callback', {});
    const taskToken = await local.nextToken();
    await local.succeed(taskToken);
    await local.ended(executionArn);
    const hand = (token: string) =>
      rejectionOf(local.sfn.send(new SendTaskSuccessCommand({ taskToken: token, output: '{}' })));

    expect((await hand(taskToken)).name).toBe('TaskTimedOut');
    expect((await hand('nonsense')).name).toBe('InvalidToken');
    const strange = Buffer.from('task\ncallback\nunknown\nabc').toString('base64url');
    expect((await hand(strange)).name).toBe('TaskDoesNotExist');
    const notJson = local.succeed(taskToken, '{');
    expect((await rejectionOf(notJson)).name).toBe('InvalidOutput');
  });

  test('a token of a stopped execution is refused', async () => {
    const { executionArn } = await local.start('callback', {});
    const taskToken = await local.nextToken();
    await local.sfn.send(new StopExecutionCommand({ executionArn }));

    const late = local.succeed(taskToken);

    expect((await rejectionOf(late)).name).toBe('TaskTimedOut');
  });

  test('sending a result needs the action on the state machine', async () => {
    const worker = aPrincipal('worker', allow(['states:SendTask*'], machineArn('echo')));
    local.endpoint.addPrincipals([worker]);
    const { executionArn } = await local.start('callback', {});
    const taskToken = await local.nextToken();

    const refused = clientsOf(local.endpoint, worker).sfn.send(
      new SendTaskSuccessCommand({ taskToken, output: '{}' }),
    );

    expect((await rejectionOf(refused)).message).toContain(
      `states:SendTaskSuccess on resource: ${machineArn('callback')}`,
    );
    await local.sfn.send(new StopExecutionCommand({ executionArn }));
  });

  test.each([
    ['timeout', 'bounded-wait', { timeout: 1 }, 'States.Timeout'],
    ['missed heartbeat', 'impatient', { timeout: 60, heartbeat: 1 }, 'States.HeartbeatTimeout'],
  ])('a %s is caught, and its token refused afterwards', async (_case, machine, input, error) => {
    const { executionArn } = await local.start(machine, input);
    const taskToken = await local.nextToken();

    await local.ended(executionArn);

    const events = await local.historyOf(executionArn);
    const timedOut = events.find(({ type }) => type === 'TaskTimedOut');
    expect(timedOut?.taskTimedOutEventDetails).toMatchObject({ resourceType: 'lambda', error });
    const late = local.succeed(taskToken);
    expect((await rejectionOf(late)).name).toBe('TaskTimedOut');
  });

  test('a heartbeat not shorter than the timeout fails the execution before the call', async () => {
    const { executionArn } = await local.start('impatient', { timeout: 2, heartbeat: 2 });

    expect(await local.ended(executionArn)).toMatchObject({
      status: 'FAILED',
      error: 'States.Runtime',
      cause: 'HeartbeatSeconds (2) must be smaller than TimeoutSeconds (2)',
    });
    const events = await local.historyOf(executionArn);
    expect(events.map(({ type }) => type)).not.toContain('TaskScheduled');
  });
});

describe('heartbeats', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const waiting = (heartbeatSeconds: number) => {
    const callbacks = new Callbacks(systemClock);
    const fail = jest.fn<(error: Error) => void>();
    callbacks.wait('token', heartbeatSeconds, { succeed: () => undefined, fail });
    return { callbacks, fail };
  };

  test('each restarts the timer', async () => {
    const { callbacks, fail } = waiting(10);

    for (let beat = 0; beat < 5; beat += 1) {
      await jest.advanceTimersByTimeAsync(9_999);
      callbacks.find('token')?.heartbeat();
    }
    await jest.advanceTimersByTimeAsync(9_999);
    expect(fail).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);

    expect(fail).toHaveBeenCalledWith(expect.objectContaining({ name: 'States.HeartbeatTimeout' }));
    expect(callbacks.find('token')).toBeUndefined();
  });

  test('may be further apart than the longest timer of Node.js', async () => {
    const { fail } = waiting(5_000_000);

    await jest.advanceTimersByTimeAsync(4_999_999_000);
    expect(fail).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1_000);

    expect(fail).toHaveBeenCalled();
  });
});
