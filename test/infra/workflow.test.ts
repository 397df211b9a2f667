import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { ofType, policiesOf, type Resource, render, synthesizeService } from './service-template.ts';

const FOLDER = new URL('../../statemachines/', import.meta.url);

/** The definition files, with the function for each placeholder. */
const STATE_MACHINES = {
  'generation.asl.json': {
    DispatchRequestArn: 'workflow/dispatch-request',
    AwaitCapacityArn: 'workflow/await-capacity',
    AwaitProviderArn: 'workflow/await-provider',
    QueryProviderArn: 'workflow/query-provider',
    StoreOutputsArn: 'workflow/store-outputs',
    SettleRequestArn: 'workflow/settle-request',
    FailRequestArn: 'workflow/fail-request',
  },
  'expiry.asl.json': {
    ListExpiredRequestsArn: 'workflow/list-expired-requests',
    ExpireRequestsArn: 'workflow/expire-requests',
  },
  'verify-ledgers.asl.json': {
    ListLedgersArn: 'workflow/list-ledgers',
    VerifyLedgersArn: 'workflow/verify-ledgers',
  },
  'webhook-delivery.asl.json': { DeliverWebhookArn: 'workflow/deliver-webhook' },
} as const;
const FILES = Object.keys(STATE_MACHINES) as (keyof typeof STATE_MACHINES)[];

const executionsOf = (suffix: string) => ({
  'Fn::Join': [
    '',
    [
      ...['arn:', { Ref: 'AWS::Partition' }, ':states:', { Ref: 'AWS::Region' }, ':'],
      ...[{ Ref: 'AWS::AccountId' }, ':execution:'],
      { 'Fn::GetAtt': [expect.stringMatching(/^LedgerVerificationWorkflowMachineStateMachine/), 'Name'] },
      suffix,
    ],
  ],
});
/** What a Distributed Map needs: https://docs.aws.amazon.com/step-functions/latest/dg/iam-policies-eg-dist-map.html */
const MAP_RUNS = [
  {
    Effect: 'Allow',
    Action: 'states:StartExecution',
    Resource: { Ref: expect.stringMatching(/^LedgerVerificationWorkflowMachineStateMachine/) },
  },
  {
    Effect: 'Allow',
    Action: ['states:DescribeExecution', 'states:StopExecution'],
    Resource: executionsOf(':*'),
  },
  { Effect: 'Allow', Action: 'states:RedriveExecution', Resource: executionsOf('/VerifyBatch:*') },
];

const service = await synthesizeService();

const stateMachineOf = (file: string): Resource => {
  const text = readFileSync(new URL(file, FOLDER), 'utf8');
  const found = ofType(service.resources, 'AWS::StepFunctions::StateMachine').filter(
    ([, { Properties }]) => Properties.DefinitionString === text,
  );
  if (found.length !== 1) throw new Error(`${found.length} state machines are defined by ${file}.`);
  return (found[0] as [string, Resource])[1];
};

const arnOf = (name: string) => ({ 'Fn::GetAtt': [service.functions[name]?.logicalId, 'Arn'] });

test('exactly these definition files are deployed', () => {
  expect(readdirSync(FOLDER).toSorted()).toEqual(FILES.toSorted());
  expect(ofType(service.resources, 'AWS::StepFunctions::StateMachine')).toHaveLength(FILES.length);
});

describe.each(FILES)('the state machine of %s', (file) => {
  test('is a standard one, defined by the exact text of the file', () => {
    expect(stateMachineOf(file).Properties.StateMachineType).toBe('STANDARD');
  });

  test('has its function in each placeholder', () => {
    const expected = Object.entries(STATE_MACHINES[file]).map(([name, bundle]) => [name, arnOf(bundle)]);

    expect(stateMachineOf(file).Properties.DefinitionSubstitutions).toEqual(Object.fromEntries(expected));
  });

  test('may invoke exactly these functions, and has no other permission', () => {
    const roleId = stateMachineOf(file).Properties.RoleArn['Fn::GetAtt'][0];
    const statements = policiesOf(service.resources, roleId).flatMap((policy) => policy.statements);

    const [invoke, ...own] = statements;
    expect(own).toEqual(file === 'verify-ledgers.asl.json' ? MAP_RUNS : []);
    expect(invoke).toMatchObject({ Effect: 'Allow', Action: 'lambda:InvokeFunction' });
    expect([invoke?.Resource].flat().map(render).toSorted()).toEqual(
      Object.values(STATE_MACHINES[file])
        .map((name) => render(arnOf(name)))
        .toSorted(),
    );
  });

  test('has its own role, for Step Functions of this account only', () => {
    const { 'Fn::GetAtt': [roleId] = [] } = stateMachineOf(file).Properties.RoleArn;
    const role = service.resources[roleId]?.Properties ?? {};
    const [statement, ...more] = role.AssumeRolePolicyDocument.Statement;

    expect(more).toEqual([]);
    expect(statement).toMatchObject({
      Effect: 'Allow',
      Action: 'sts:AssumeRole',
      Principal: { Service: 'states.amazonaws.com' },
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    });
    expect(role.ManagedPolicyArns).toBeUndefined();
    expect(role.Policies).toHaveLength(1);
  });
});
