import '../builders/environment.ts';
import { StopExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { aLambdaContext } from '../builders/api-events.ts';
import { executions } from '../fakes/fresh-executions.ts';
import { LoopbackServer } from '../servers/loopback-server.ts';

jest.unstable_mockModule('node:timers/promises', () => ({ setTimeout: async () => undefined }));
const { handler } = await import('../../../functions/events/stop-executions.ts');

const MACHINE = 'arn:aws:states:us-east-1:111122223333:stateMachine:generation';
const server = await new LoopbackServer().start();
afterAll(() => server.close());

beforeEach(() => {
  server.reset();
  server.answer(200, '');
  executions.client.on(StopExecutionCommand).callsFake(async ({ executionArn }) => {
    const name = executionArn.split(':').at(-1);
    for (const one of executions.started) if (one.name === name) one.status = 'ABORTED';
    return {};
  });
  for (const name of ['a', 'b']) executions.put('generation', name, 'RUNNING');
});

const run = async (RequestType: CloudFormationCustomResourceEvent['RequestType'], leftMs = 900_000) => {
  await handler(
    {
      RequestType,
      ResponseURL: `${server.url}/answer`,
      StackId: 'stack-1',
      RequestId: 'request-1',
      LogicalResourceId: 'Generation',
      ...(RequestType === 'Create' ? {} : { PhysicalResourceId: MACHINE }),
      ResourceProperties: { ServiceToken: 'arn:function', StateMachineArn: MACHINE },
    } as unknown as CloudFormationCustomResourceEvent,
    { ...aLambdaContext(), getRemainingTimeInMillis: () => leftMs },
  );
  return server.requests.at(-1)?.body as Record<string, unknown>;
};
const running = () => executions.started.filter(({ status }) => status === 'RUNNING').length;

describe('the resource that goes before a state machine', () => {
  test.each(['Create', 'Update'] as const)(
    'stops nothing on %s, and is named by the state machine, so that another one replaces it',
    async (type) => {
      expect(await run(type)).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: MACHINE });
      expect(running()).toBe(2);
    },
  );

  test('stops everything when it is deleted', async () => {
    expect(await run('Delete')).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: MACHINE });
    expect(running()).toBe(0);
  });

  test('says what to do when its time does not suffice', async () => {
    const { Status, Reason } = await run('Delete', 30_000);

    expect(Status).toBe('FAILED');
    expect(Reason).toContain('ops executions stop-all');
  });
});
