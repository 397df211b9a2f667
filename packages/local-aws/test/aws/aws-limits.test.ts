import {
  DescribeExecutionCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../src/aws/endpoint.ts';
import {
  aMachine,
  clientsOf,
  endpointOptions,
  eventually,
  functionArn,
  machineArn,
  removeDirectory,
  startEndpoint,
} from './support.ts';

const open: { endpoint: AwsEndpoint; dataDir: string }[] = [];
afterEach(async () => {
  for (const { endpoint, dataDir } of open.splice(0)) {
    await endpoint.close();
    removeDirectory(dataDir);
  }
});

/** An endpoint with one machine, whose task is answered by `invoke`. */
const withMachine = async (
  definition: object,
  invoke: (payload: unknown) => Promise<unknown>,
  maxOpenExecutions?: number,
) => {
  const options = endpointOptions({ ...(maxOpenExecutions !== undefined && { maxOpenExecutions }) });
  const endpoint = await startEndpoint(options);
  open.push({ endpoint, dataDir: options.dataDir });
  await endpoint.startStateMachines([aMachine('flow', definition)], async (_arn, payload) => ({
    payload: await invoke(payload),
  }));
  const { sfn } = clientsOf(endpoint);
  const start = (name: string) =>
    sfn.send(new StartExecutionCommand({ stateMachineArn: machineArn('flow'), name, input: '{}' }));
  const ended = (executionArn: string | undefined) =>
    eventually(
      () => sfn.send(new DescribeExecutionCommand({ executionArn })),
      ({ status }) => status !== 'RUNNING',
    );
  return { sfn, start, ended };
};

const WAITING = { StartAt: 'Wait', States: { Wait: { Type: 'Wait', Seconds: 600, End: true } } };
const task = (resource: string, parameters: object) => ({
  StartAt: 'Task',
  States: {
    Task: {
      Type: 'Task',
      Resource: `arn:aws:states:::${resource}`,
      Parameters: { FunctionName: functionArn('work'), ...parameters },
      End: true,
    },
  },
});

describe('open executions', () => {
  test('are limited: a further start is refused until one has ended, a repeated one is not', async () => {
    const { sfn, start } = await withMachine(WAITING, async () => null, 2);
    const { executionArn } = await start('a');
    await start('b');

    await expect(start('c')).rejects.toMatchObject({ name: 'ExecutionLimitExceeded' });
    await expect(start('a')).resolves.toMatchObject({ executionArn });
    await sfn.send(new StopExecutionCommand({ executionArn }));
    await expect(start('c')).resolves.toMatchObject({ executionArn: expect.any(String) });
  });
});

describe('a throttled function', () => {
  test('fails its task with the name that state machines retry', async () => {
    const { start, ended } = await withMachine(task('lambda:invoke', {}), async () => {
      throw Object.assign(new Error('Rate Exceeded.'), { name: 'TooManyRequestsException' });
    });

    const { executionArn } = await start('a');

    expect(await ended(executionArn)).toMatchObject({
      status: 'FAILED',
      error: 'Lambda.TooManyRequestsException',
    });
  });
});

describe('a task token', () => {
  test('can be used before its function has returned, whose answer then counts for nothing', async () => {
    const gate = Promise.withResolvers<void>();
    const token = Promise.withResolvers<string>();
    const { sfn, start, ended } = await withMachine(
      task('lambda:invoke.waitForTaskToken', { Payload: { 'token.$': '$$.Task.Token' } }),
      async (payload) => {
        token.resolve((payload as { token: string }).token);
        await gate.promise;
        return { ignored: true };
      },
    );
    const { executionArn } = await start('a');
    const taskToken = await token.promise;

    await sfn.send(new SendTaskHeartbeatCommand({ taskToken }));
    await sfn.send(new SendTaskSuccessCommand({ taskToken, output: '{"early":true}' }));
    const { output } = await ended(executionArn);
    gate.resolve();

    expect(output).toBe('{"early":true}');
  });
});
