import { SendTaskFailureCommand, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { expect, test } from '@jest/globals';

import { useMachines } from './step-functions-support.ts';
import { allow, aPrincipal, clientsOf, eventually, machineArn, rejectionOf } from './support.ts';

const local = useMachines();
const waiting = async (timeout = 60) => {
  const { executionArn } = await local.start('callback', { timeout });
  return { executionArn, taskToken: await local.nextToken() };
};
const refusalOf = async (taskToken: string, output?: string) =>
  (await rejectionOf(local.succeed(taskToken, output))).name;

test('a task waits for its token, and continues with the output', async () => {
  const { executionArn, taskToken } = await waiting();
  await eventually(
    () => local.historyOf(executionArn),
    (events) => events.some(({ type }) => type === 'TaskSubmitted'),
  );
  expect((await local.describeExecution(executionArn)).status).toBe('RUNNING');

  await local.succeed(taskToken, '{"url":"x"}');

  const { output = '' } = await local.ended(executionArn);
  expect(JSON.parse(output)).toEqual({ timeout: 60, result: { url: 'x' } });
  const events = await local.historyOf(executionArn);
  expect(events.find(({ type }) => type === 'TaskScheduled')?.taskScheduledEventDetails).toMatchObject({
    timeoutInSeconds: 60,
  });
  expect(events.find(({ type }) => type === 'TaskSucceeded')?.taskSucceededEventDetails).toMatchObject({
    ...{ resource: 'invoke.waitForTaskToken', output: '{"url":"x"}' },
  });
});

test('a token works once, an invented one never', async () => {
  const { executionArn, taskToken } = await waiting();
  expect(await refusalOf(taskToken, '{')).toBe('InvalidOutput');
  await local.succeed(taskToken);
  await local.ended(executionArn);

  expect(await refusalOf(taskToken)).toBe('TaskTimedOut');
  expect(await refusalOf('nonsense')).toBe('InvalidToken');
  const strange = Buffer.from('task\ncallback\nunknown\nabc').toString('base64url');
  expect(await refusalOf(strange)).toBe('TaskDoesNotExist');
});

test('a token of a stopped execution is refused', async () => {
  const { executionArn, taskToken } = await waiting();
  await local.sfn.send(new StopExecutionCommand({ executionArn }));

  expect(await refusalOf(taskToken)).toBe('TaskTimedOut');
});

test('a timeout is caught, and its token refused afterwards', async () => {
  const { executionArn, taskToken } = await waiting(1);
  expect(await local.ended(executionArn)).toMatchObject({ status: 'SUCCEEDED' });

  const events = await local.historyOf(executionArn);
  expect(events.find(({ type }) => type === 'TaskTimedOut')?.taskTimedOutEventDetails).toMatchObject({
    ...{ resourceType: 'lambda', error: 'States.Timeout' },
  });
  expect(await refusalOf(taskToken)).toBe('TaskTimedOut');
});

test('sending a result needs the action on the state machine', async () => {
  const worker = aPrincipal('worker', allow(['states:SendTask*'], machineArn('echo')));
  local.endpoint.addPrincipals([worker]);
  const { executionArn, taskToken } = await waiting();

  const refused = local.succeed(taskToken, '{}', clientsOf(local.endpoint, worker).sfn);

  expect((await rejectionOf(refused)).message).toContain(
    `states:SendTaskSuccess on resource: ${machineArn('callback')}`,
  );
  await local.sfn.send(new StopExecutionCommand({ executionArn }));
});

test('nothing else can be sent for a token', async () => {
  const { executionArn, taskToken } = await waiting();

  const failure = local.sfn.send(new SendTaskFailureCommand({ taskToken, error: 'Gone' }));

  expect((await rejectionOf(failure)).name).toBe('UnknownOperationException');
  await local.sfn.send(new StopExecutionCommand({ executionArn }));
});
