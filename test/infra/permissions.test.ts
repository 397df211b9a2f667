import { beforeAll, describe, expect, test } from '@jest/globals';
import { actionsCalledIn, codeOf } from './function-code.ts';
import {
  EVERYTHING_CONFIGURED,
  ofType,
  render,
  type ServiceTemplate,
  synthesizeService,
} from './service-template.ts';

const TABLE = 'DataStoreTable.Arn';
const GUARDRAIL = `arn:AWS::Partition:bedrock:AWS::Region:AWS::AccountId:guardrail/${EVERYTHING_CONFIGURED.guardrailId}`;
const index = (name: string): string => `${TABLE}/index/${name}`;
const FILES = 'DataStoreOutputs.Arn/outputs/*';
const PROVIDER_KEYS = 'ProviderSecretsModelArk ProviderSecretsModelStudio';
const SIGNING_KEY = 'DeliverySigningKey';

/** What each function may do beyond writing its logs: actions by the resources they are allowed on. */
const PERMISSIONS: Record<string, Record<string, string>> = {
  'api/create-generation': {
    [TABLE]: 'dynamodb:BatchGetItem dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem',
    [PROVIDER_KEYS]: 'secretsmanager:DescribeSecret',
    GenerationWorkflowStateMachine: 'states:StartExecution',
    [GUARDRAIL]: 'bedrock:ApplyGuardrail',
  },
  'api/list-generations': {
    [TABLE]: 'dynamodb:BatchGetItem dynamodb:GetItem dynamodb:UpdateItem',
    [['GSI2', 'GSI3', 'GSI4', 'GSI5'].map(index).join(' ')]: 'dynamodb:Query',
    [SIGNING_KEY]: 'secretsmanager:GetSecretValue',
  },
  'api/delete-generation': {
    [TABLE]:
      'dynamodb:BatchWriteItem dynamodb:DeleteItem dynamodb:GetItem dynamodb:Query dynamodb:UpdateItem',
    [FILES]: 's3:DeleteObject',
  },
  'api/bulk-delete-generations': {
    [TABLE]:
      'dynamodb:BatchWriteItem dynamodb:DeleteItem dynamodb:GetItem dynamodb:Query dynamodb:UpdateItem',
    [FILES]: 's3:DeleteObject',
  },
  'api/list-end-users': {
    [TABLE]: 'dynamodb:BatchGetItem dynamodb:GetItem dynamodb:UpdateItem',
    [index('GSI1')]: 'dynamodb:Query',
  },
  'api/delete-end-user': {
    [TABLE]:
      'dynamodb:BatchWriteItem dynamodb:DeleteItem dynamodb:GetItem dynamodb:Query dynamodb:UpdateItem',
    [index('GSI4')]: 'dynamodb:Query',
    [FILES]: 's3:DeleteObject',
  },
  'api/block-end-user': { [TABLE]: 'dynamodb:GetItem dynamodb:UpdateItem' },
  'api/unblock-end-user': { [TABLE]: 'dynamodb:GetItem dynamodb:UpdateItem' },
  'api/get-generation': {
    [TABLE]: 'dynamodb:GetItem dynamodb:UpdateItem',
    [SIGNING_KEY]: 'secretsmanager:GetSecretValue',
  },
  'api/list-models': {
    [TABLE]: 'dynamodb:GetItem dynamodb:Query dynamodb:UpdateItem',
    [PROVIDER_KEYS]: 'secretsmanager:DescribeSecret',
  },
  'api/get-balance': { [TABLE]: 'dynamodb:GetItem dynamodb:UpdateItem' },
  'api/list-balance-history': { [TABLE]: 'dynamodb:GetItem dynamodb:Query dynamodb:UpdateItem' },
  'workflow/dispatch-request': {
    [TABLE]: 'dynamodb:GetItem dynamodb:PutItem dynamodb:Query dynamodb:UpdateItem',
    [PROVIDER_KEYS]: 'secretsmanager:GetSecretValue',
  },
  'workflow/poll-provider': {
    [TABLE]: 'dynamodb:GetItem dynamodb:Query dynamodb:UpdateItem',
    [PROVIDER_KEYS]: 'secretsmanager:GetSecretValue',
  },
  'workflow/store-outputs': {
    [TABLE]: 'dynamodb:GetItem dynamodb:Query dynamodb:UpdateItem',
    [FILES]: 's3:AbortMultipartUpload s3:PutObject',
  },
  'workflow/settle-request': { [TABLE]: 'dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem' },
  'workflow/fail-request': { [TABLE]: 'dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem' },
  'events/create-signing-key': {
    [SIGNING_KEY]: 'secretsmanager:GetSecretValue secretsmanager:PutSecretValue',
  },
};
const NAMES = Object.keys(PERMISSIONS);

interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: unknown;
  Condition?: unknown;
}

let service: ServiceTemplate;
beforeAll(() => {
  service = synthesizeService(EVERYTHING_CONFIGURED);
});

const list = <T>(oneOrMore: T | T[]): T[] => (Array.isArray(oneOrMore) ? oneOrMore : [oneOrMore]);

const roleOf = (name: string): string => {
  const found = service.functions[name];
  if (!found) throw new Error(`There is no function ${name}.`);
  return found.properties.Role['Fn::GetAtt'][0];
};

const statements = (inPolicy: (roles: { Ref: string }[]) => boolean = () => true): Statement[] =>
  ofType(service.resources, 'AWS::IAM::Policy')
    .filter(([, { Properties }]) => inPolicy(Properties.Roles))
    .flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement);

const statementsOf = (name: string): Statement[] =>
  statements((roles) => roles.some(({ Ref }) => Ref === roleOf(name)));

describe.each(NAMES)('%s', (name) => {
  test('may do exactly this', () => {
    const granted = statementsOf(name).map(({ Resource, Action }) => [
      list(Resource).map(render).toSorted().join(' '),
      list(Action).toSorted().join(' '),
    ]);

    expect(granted).toHaveLength(Object.keys(PERMISSIONS[name] ?? {}).length);
    expect(Object.fromEntries(granted)).toEqual(PERMISSIONS[name]);
  });

  test('may do what its code does, and no more', () => {
    const granted = statementsOf(name).flatMap(({ Action }) => Action);

    expect([...new Set(granted)].toSorted()).toEqual(actionsCalledIn(codeOf(name)).toSorted());
  });

  test('has a role of its own that only Lambda may take, with log writing as its one shared policy', () => {
    const sharing = NAMES.filter((other) => roleOf(other) === roleOf(name));
    const role = service.resources[roleOf(name)]?.Properties ?? {};

    expect(sharing).toEqual([name]);
    expect(role.AssumeRolePolicyDocument.Statement).toEqual([
      { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'lambda.amazonaws.com' } },
    ]);
    expect(role.ManagedPolicyArns.map(render)).toEqual([
      'arn:AWS::Partition:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole',
    ]);
    expect(role.Policies).toBeUndefined();
  });
});

describe('no policy of the stack', () => {
  test('scans the table, or allows all actions of a service', () => {
    const actions = statements().flatMap(({ Action }) => Action);

    expect(actions).not.toContain('dynamodb:Scan');
    expect(actions.filter((action) => action.includes('*'))).toEqual([]);
  });

  test('reaches beyond one resource, but for the files under their prefix', () => {
    const resources = statements().flatMap(({ Resource }) => list(Resource).map(render));

    expect(new Set(resources.filter((resource) => resource.includes('*')))).toEqual(new Set([FILES]));
  });

  test('denies, or allows on a condition: what is listed is what holds', () => {
    for (const { Effect, Condition } of statements()) {
      expect(Effect).toBe('Allow');
      expect(Condition).toBeUndefined();
    }
  });

  test('belongs to anyone but the functions and the state machines', () => {
    const roles = ofType(service.resources, 'AWS::IAM::Role').map(([logicalId]) => logicalId);
    const machines = ofType(service.resources, 'AWS::StepFunctions::StateMachine').map(
      ([, { Properties }]) => Properties.RoleArn['Fn::GetAtt'][0],
    );

    expect(roles.toSorted()).toEqual([...NAMES.map(roleOf), ...machines].toSorted());
    expect(ofType(service.resources, 'AWS::IAM::ManagedPolicy')).toEqual([]);
    expect(ofType(service.resources, 'AWS::IAM::User')).toEqual([]);
  });
});
