import { StopExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, test } from '@jest/globals';

import { statusChangeEvent } from '../../src/aws/step-functions/status-change.ts';
import { useMachines } from './step-functions-support.ts';
import { ACCOUNT, machineArn, REGION } from './support.ts';

const local = useMachines();

const eventsOf = (executionArn: string | undefined) =>
  local.events.filter(({ resources }) => resources[0] === executionArn);
const statusesOf = (executionArn: string | undefined) =>
  eventsOf(executionArn).map(({ detail }) => detail.status);

describe('the events of an execution', () => {
  test('are those of Step Functions on the default bus', async () => {
    const { executionArn } = await local.start('echo', { say: 'x' }, 'told');
    const { startDate, stopDate, output } = await local.ended(executionArn);

    const [running, succeeded, ...others] = eventsOf(executionArn);

    const detail = {
      executionArn,
      stateMachineArn: machineArn('echo'),
      name: 'told',
      status: 'RUNNING',
      startDate: startDate?.getTime(),
      stopDate: null,
      input: '{"say":"x"}',
      output: null,
      stateMachineVersionArn: null,
      stateMachineAliasArn: null,
      redriveCount: 0,
      redriveDate: null,
      redriveStatus: 'NOT_REDRIVABLE',
      redriveStatusReason: 'Execution is RUNNING and cannot be redriven',
      inputDetails: { included: true },
      outputDetails: null,
      error: null,
      cause: null,
    };
    expect(running).toEqual({
      version: '0',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      'detail-type': 'Step Functions Execution Status Change',
      source: 'aws.states',
      account: ACCOUNT,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      region: REGION,
      resources: [executionArn],
      detail,
    });
    expect(succeeded?.detail).toEqual({
      ...detail,
      status: 'SUCCEEDED',
      stopDate: stopDate?.getTime(),
      output,
      redriveStatusReason: 'Execution is SUCCEEDED and cannot be redriven',
      outputDetails: { included: true },
    });
    expect(succeeded?.id).not.toBe(running?.id);
    expect(others).toEqual([]);
  });

  test('hold the error and cause of a failure', async () => {
    const { executionArn } = await local.start('large', {});
    await local.ended(executionArn);

    expect(statusesOf(executionArn)).toEqual(['RUNNING', 'FAILED']);
    expect(eventsOf(executionArn)[1]?.detail).toMatchObject({
      error: 'States.DataLimitExceeded',
      cause: expect.stringContaining('service limit'),
      output: null,
      outputDetails: null,
      redriveStatus: 'REDRIVABLE',
      redriveStatusReason: null,
    });
  });

  test('report a timeout', async () => {
    const { executionArn } = await local.start('limited', {});
    await local.ended(executionArn);

    expect(statusesOf(executionArn)).toEqual(['RUNNING', 'TIMED_OUT']);
  });

  test('report a stop once, however often it is stopped', async () => {
    const { executionArn } = await local.start('slow', { seconds: 60 });
    const stop = new StopExecutionCommand({ executionArn, error: 'Operator', cause: 'why not' });
    await local.sfn.send(stop);
    await local.sfn.send(stop);

    expect(statusesOf(executionArn)).toEqual(['RUNNING', 'ABORTED']);
    expect(eventsOf(executionArn)[1]?.detail).toMatchObject({ error: 'Operator', cause: 'why not' });
  });

  test('are not repeated when the same execution is started again', async () => {
    const first = await local.start('slow', { seconds: 60 }, 'told-twice');
    await local.start('slow', { seconds: 60 }, 'told-twice');

    expect(statusesOf(first.executionArn)).toEqual(['RUNNING']);
  });
});

describe('an event over 248 KiB', () => {
  const change = (inputBytes: number, outputBytes: number) =>
    statusChangeEvent(
      { region: REGION, accountId: ACCOUNT },
      {
        executionArn: 'execution',
        stateMachineArn: 'machine',
        name: 'large',
        startDate: 1.5,
        input: 'i'.repeat(inputBytes),
        outcome: { status: 'SUCCEEDED', stopDate: 2, output: 'o'.repeat(outputBytes) },
      },
    ).detail;
  const KIB = 1_024;

  test.each([
    [100, 147, true, true],
    [100, 150, false, true],
    [1, 249, false, false],
  ])('with %s KiB of input and %s KiB of output', (input, output, hasInput, hasOutput) => {
    const detail = change(input * KIB, output * KIB);

    expect(detail).toMatchObject({
      inputDetails: { included: hasInput },
      outputDetails: { included: hasOutput },
    });
    expect([detail.input !== null, detail.output !== null]).toEqual([hasInput, hasOutput]);
  });
});
