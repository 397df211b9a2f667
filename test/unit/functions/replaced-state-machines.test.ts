import {
  CloudFormationClient,
  DescribeStacksCommand,
  type StackStatus,
} from '@aws-sdk/client-cloudformation';
import { StopExecutionCommand } from '@aws-sdk/client-sfn';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { aLambdaContext } from '../builders/api-events.ts';
import { answer, aResourceEvent, type RequestType } from '../builders/custom-resource.ts';
import { executions } from '../fakes/fresh-executions.ts';

jest.unstable_mockModule('node:timers/promises', () => ({ setTimeout: async () => undefined }));
const { handler } = await import('../../../functions/events/stop-executions.ts');

const arnOf = (machine: string) => `arn:aws:states:us-east-1:111122223333:stateMachine:${machine}`;
const STACK_ID = 'arn:aws:cloudformation:us-east-1:111122223333:stack/GenerationService/one';
const cloudFormation = mockClient(CloudFormationClient);

beforeEach(() => {
  cloudFormation.reset();
  executions.client.on(StopExecutionCommand).callsFake(async ({ executionArn }) => {
    const [machine, name] = executionArn.split(':').slice(-2);
    for (const one of executions.started)
      if (one.machine === machine && one.name === name) one.status = 'ABORTED';
    return {};
  });
  for (const machine of ['generation', 'replaced']) {
    for (const name of ['a', 'b']) executions.put(machine, name, 'RUNNING');
  }
  process.env.STATE_MACHINE_ARNS = [arnOf('generation'), arnOf('webhooks')].join(',');
});

const statusIs = (StackStatus: StackStatus) =>
  cloudFormation.on(DescribeStacksCommand, { StackName: STACK_ID }).resolves({
    Stacks: [{ StackName: 'GenerationService', CreationTime: new Date(0), StackStatus }],
  });

interface Sent {
  RequestType: RequestType;
  machine?: string;
  LogicalResourceId?: string;
  PhysicalResourceId?: string;
}

/** Plays an event of CloudFormation, and returns the answer. */
const send = async ({ RequestType, machine = 'generation', ...others }: Sent, leftMs = 900_000) => {
  const before = RequestType === 'Create' ? {} : { PhysicalResourceId: arnOf(machine) };
  const overrides = { StackId: STACK_ID, ...before, ...others };
  await handler(aResourceEvent(RequestType, { StateMachineArn: arnOf(machine) }, overrides), {
    ...aLambdaContext(),
    getRemainingTimeInMillis: () => leftMs,
  });
  return answer();
};
const running = (machine: string) =>
  executions.started.filter((one) => one.machine === machine && one.status === 'RUNNING').length;

describe('the resource that goes before a state machine', () => {
  test.each(['Create', 'Update'] as const)(
    'stops nothing on %s, and is named by the state machine, so that another one replaces it',
    async (RequestType) => {
      expect(await send({ RequestType })).toMatchObject({
        Status: 'SUCCESS',
        PhysicalResourceId: arnOf('generation'),
      });
      expect(running('generation')).toBe(2);
    },
  );

  test.each<StackStatus>(['DELETE_IN_PROGRESS', 'ROLLBACK_IN_PROGRESS'])(
    'stops everything when the whole stack goes: %s',
    async (status) => {
      statusIs(status);

      expect(await send({ RequestType: 'Delete' })).toMatchObject({
        Status: 'SUCCESS',
        PhysicalResourceId: arnOf('generation'),
      });
      expect([running('generation'), running('replaced')]).toEqual([0, 2]);
    },
  );

  test('says what to do when its time does not suffice', async () => {
    statusIs('DELETE_IN_PROGRESS');
    const { Status, Reason } = await send({ RequestType: 'Delete' }, 30_000);

    expect(Status).toBe('FAILED');
    expect(Reason).toContain('ops executions stop-all');
  });
});

/** The events of a custom resource in an update, each with the status that the stack has then. */
type Step = [StackStatus, Sent];

const AS_BEFORE: Sent = { RequestType: 'Update' };

describe('an update of the stack stops no execution of a state machine that stays', () => {
  test.each<[string, Step[]]>([
    [
      'when the construct of the stopper is renamed',
      [
        ['UPDATE_IN_PROGRESS', { RequestType: 'Create', LogicalResourceId: 'Renamed' }],
        ['UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', { RequestType: 'Delete' }],
      ],
    ],
    [
      'when the stopper leaves the template',
      [['UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', { RequestType: 'Delete' }]],
    ],
    [
      'when the stopper comes back under another physical id',
      [
        ['UPDATE_IN_PROGRESS', { RequestType: 'Update', PhysicalResourceId: 'another' }],
        ['UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', { RequestType: 'Delete', PhysicalResourceId: 'another' }],
      ],
    ],
    ['when its properties change', [['UPDATE_IN_PROGRESS', AS_BEFORE]]],
    [
      'when its properties change and the update rolls back',
      [
        ['UPDATE_IN_PROGRESS', AS_BEFORE],
        ['UPDATE_ROLLBACK_IN_PROGRESS', AS_BEFORE],
      ],
    ],
    [
      'when the update that renames it rolls back',
      [
        ['UPDATE_IN_PROGRESS', { RequestType: 'Create', LogicalResourceId: 'Renamed' }],
        [
          'UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS',
          { RequestType: 'Delete', LogicalResourceId: 'Renamed' },
        ],
      ],
    ],
    [
      'when its creation in an update fails',
      [
        [
          'UPDATE_ROLLBACK_IN_PROGRESS',
          { RequestType: 'Delete', LogicalResourceId: 'Renamed', PhysicalResourceId: 'not-made' },
        ],
      ],
    ],
    [
      'when a rollback is continued after it failed',
      [['UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS', { RequestType: 'Delete' }]],
    ],
    ['when an import rolls back', [['IMPORT_ROLLBACK_IN_PROGRESS', { RequestType: 'Delete' }]]],
  ])('%s', async (_case, steps) => {
    for (const [status, event] of steps) {
      statusIs(status);
      expect(await send(event)).toMatchObject({ Status: 'SUCCESS' });
    }

    expect([running('generation'), running('replaced')]).toEqual([2, 2]);
  });

  test('when the status of the stack cannot be read: the deletion fails, and says what to do', async () => {
    for (const refuse of [
      () =>
        cloudFormation
          .on(DescribeStacksCommand)
          .rejects(Object.assign(new Error('no'), { name: 'AccessDenied' })),
      () => cloudFormation.on(DescribeStacksCommand).resolves({ Stacks: [] }),
    ]) {
      refuse();
      const { Status, Reason } = await send({ RequestType: 'Delete' });

      expect(Status).toBe('FAILED');
      expect(Reason).toContain('Delete the stack again');
      expect(running('generation')).toBe(2);
    }
  });
});

describe('a state machine that is replaced', () => {
  test('loses its executions once the update is complete, and the new one keeps its own', async () => {
    const { PhysicalResourceId } = await send({
      RequestType: 'Update',
      PhysicalResourceId: arnOf('replaced'),
    });
    expect(PhysicalResourceId).toBe(arnOf('generation'));
    expect([running('generation'), running('replaced')]).toEqual([2, 2]);

    statusIs('UPDATE_COMPLETE_CLEANUP_IN_PROGRESS');
    expect(await send({ RequestType: 'Delete', machine: 'replaced' })).toMatchObject({ Status: 'SUCCESS' });
    expect([running('generation'), running('replaced')]).toEqual([2, 0]);
  });

  test('keeps them when that update rolls back, and the new one loses its own', async () => {
    process.env.STATE_MACHINE_ARNS = arnOf('generation');
    await send({ RequestType: 'Update', machine: 'replaced', PhysicalResourceId: arnOf('generation') });
    await send({ RequestType: 'Update', machine: 'generation', PhysicalResourceId: arnOf('replaced') });

    statusIs('UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS');
    expect(await send({ RequestType: 'Delete', machine: 'replaced' })).toMatchObject({ Status: 'SUCCESS' });
    expect([running('generation'), running('replaced')]).toEqual([2, 0]);
  });
});
