import {
  ExecutionDoesNotExist,
  ListExecutionsCommand,
  StateMachineDoesNotExist,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { executions } from '../../fakes/fresh-executions.ts';

/** What happens in each pause, which ends no sooner. */
let inPause = (): void => undefined;
const pause = jest.fn(async (_milliseconds: number) => {
  await new Promise(setImmediate);
  inPause();
});
jest.unstable_mockModule('node:timers/promises', () => ({ setTimeout: pause }));
const { stopRunningExecutions, waitForExecutions } = await import(
  '../../../../core/executions/stop-executions.ts'
);

const MACHINE = 'arn:aws:states:us-east-1:111122223333:stateMachine:generation';
/** Stops that are refused as throttled before one works. */
let throttled = 0;
const running = () => executions.started.filter(({ status }) => status === 'RUNNING').map(({ name }) => name);

beforeEach(() => {
  executions.pageSize = 20;
  throttled = 0;
  inPause = () => undefined;
  pause.mockClear();
  executions.client.on(StopExecutionCommand).callsFake(async ({ executionArn }) => {
    if (throttled > 0) {
      throttled -= 1;
      throw Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException' });
    }
    const name = executionArn.split(':').at(-1);
    for (const one of executions.started) if (one.name === name) one.status = 'ABORTED';
    return {};
  });
});
const start = (count: number, machine = 'generation') => {
  for (let index = 0; index < count; index++) executions.put(machine, `${machine}-${index}`, 'RUNNING');
};

describe('stopping the executions of a state machine', () => {
  test('stops all that run, page by page, and none of another state machine', async () => {
    start(45);
    start(1, 'expiry');
    executions.put('generation', 'ended', 'SUCCEEDED');

    expect(await stopRunningExecutions(MACHINE, () => true)).toEqual({ stopped: 45, areLeft: false });
    expect(running()).toEqual(['expiry-0']);
    expect(executions.started.find(({ name }) => name === 'ended')?.status).toBe('SUCCEEDED');
  });

  test('stops those that start meanwhile', async () => {
    start(3);
    let later = 0;
    const isTime = () => {
      if (later++ === 2) executions.put('generation', 'late', 'RUNNING');
      return true;
    };

    expect(await stopRunningExecutions(MACHINE, isTime)).toEqual({ stopped: 4, areLeft: false });
  });

  test('repeats stops that were throttled', async () => {
    start(5);
    throttled = 12;

    expect(await stopRunningExecutions(MACHINE, () => true)).toEqual({ stopped: 5, areLeft: false });
  });

  test('ends when its time is up, and says that some are left', async () => {
    start(45);
    let calls = 0;

    const report = await stopRunningExecutions(MACHINE, () => calls++ < 12);

    expect(report.areLeft).toBe(true);
    expect(report.stopped).toBeLessThan(45);
    expect(running()).toHaveLength(45 - report.stopped);
  });

  test('has nothing to do for a state machine that does not exist', async () => {
    executions.client
      .on(ListExecutionsCommand)
      .rejects(new StateMachineDoesNotExist({ message: MACHINE, $metadata: {} }));

    expect(await stopRunningExecutions(MACHINE, () => true)).toEqual({ stopped: 0, areLeft: false });
  });

  test('counts an execution that is gone by then as stopped', async () => {
    start(1);
    executions.client.on(StopExecutionCommand).callsFake(async () => {
      for (const one of executions.started) one.status = 'SUCCEEDED';
      throw new ExecutionDoesNotExist({ message: 'Execution does not exist', $metadata: {} });
    });

    expect(await stopRunningExecutions(MACHINE, () => true)).toEqual({ stopped: 1, areLeft: false });
  });

  test('throws other errors', async () => {
    start(1);
    executions.client.on(StopExecutionCommand).rejects(new Error('no rights'));

    await expect(stopRunningExecutions(MACHINE, () => true)).rejects.toThrow('no rights');
  });
});

describe('waiting for the executions of a state machine', () => {
  const listings = () => executions.client.commandCalls(ListExecutionsCommand).length;

  test('ends when none runs any more', async () => {
    start(2);
    inPause = () => {
      for (const one of executions.started) one.status = 'SUCCEEDED';
    };

    await waitForExecutions(MACHINE, 60);

    expect(listings()).toBe(2);
  });

  test('looks once a second, and gives up when the time is over', async () => {
    start(1);

    await waitForExecutions(MACHINE, 3);

    expect(pause.mock.calls).toEqual([[1_000], [1_000], [1_000]]);
    expect(listings()).toBe(3);
  });
});
