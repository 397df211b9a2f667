import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Template } from '../../src/template/assembly.ts';
import { secretSpecs } from '../../src/template/data.ts';
import { refuseUnknownKinds } from '../../src/template/kinds.ts';
import { createResolver } from '../../src/template/resolver.ts';
import { roleSpecs } from '../../src/template/roles.ts';
import { ruleSpecs } from '../../src/template/rules.ts';
import { readStack, type Stack } from '../../src/template.ts';
import { synthesizeFixture } from './a-stack.ts';

const folder = mkdtempSync(join(tmpdir(), 'template-'));
let stack: Stack;

beforeAll(() => {
  synthesizeFixture(folder);
  stack = readStack(folder);
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const functionNamed = (prefix: string) => {
  const found = stack.functions.find(({ logicalId }) => logicalId.startsWith(prefix));
  if (!found) throw new Error(`no function ${prefix}`);
  return found;
};

describe('a stack that the CDK wrote', () => {
  test('has its table as a CreateTable request', () => {
    expect(stack.tables).toEqual([
      {
        ttlAttribute: 'ttl',
        createTable: {
          TableName: stack.output('TableName'),
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: [
            { AttributeName: 'PK', AttributeType: 'S' },
            { AttributeName: 'SK', AttributeType: 'S' },
            { AttributeName: 'GSI1PK', AttributeType: 'S' },
            { AttributeName: 'GSI1SK', AttributeType: 'N' },
          ],
          KeySchema: [
            { AttributeName: 'PK', KeyType: 'HASH' },
            { AttributeName: 'SK', KeyType: 'RANGE' },
          ],
          GlobalSecondaryIndexes: [
            {
              IndexName: 'GSI1',
              KeySchema: [
                { AttributeName: 'GSI1PK', KeyType: 'HASH' },
                { AttributeName: 'GSI1SK', KeyType: 'RANGE' },
              ],
              Projection: { ProjectionType: 'KEYS_ONLY' },
            },
          ],
        },
      },
    ]);
  });

  test('has its bucket, and its secrets under the names in the outputs', () => {
    expect(stack.buckets).toEqual([stack.output('BucketName')]);
    expect(stack.secrets.map(({ name }) => name)).toEqual([
      stack.output('ModelArkSecretName'),
      'service/model-studio-key',
      expect.stringMatching(/^SigningKey/),
      expect.stringMatching(/^CallbackKey/),
    ]);
    expect(stack.secrets[1]).toEqual({
      arn: expect.stringMatching(/:secret:service\/model-studio-key-[a-z0-9]{6}$/),
      name: stack.output('ModelStudioSecretName'),
      initialValue: expect.stringMatching(/^.{32}$/),
    });
    expect(stack.secrets[2]).not.toHaveProperty('initialValue');
    expect(stack.secrets[3]?.initialValue).toMatch(/^[A-Za-z0-9]{64}$/);
  });

  test('has its enabled rules, with schedules, patterns and targets', () => {
    const { arn } = functionNamed('Echo');

    expect(stack.rules).toEqual([
      {
        name: expect.stringMatching(/^Sweep/),
        arn: expect.stringMatching(/^arn:aws:events:us-east-1:000000000000:rule\/Sweep/),
        schedule: { everyMilliseconds: 60_000 },
        targets: [{ functionArn: arn, input: { sweep: true } }],
      },
      {
        name: expect.stringMatching(/^ExecutionEnded/),
        arn: expect.any(String),
        eventPattern: {
          source: ['aws.states'],
          'detail-type': ['Step Functions Execution Status Change'],
          detail: {
            status: ['FAILED', 'ABORTED'],
            stateMachineArn: [stack.output('GenerationStateMachineArn')],
          },
        },
        targets: [{ functionArn: arn }],
      },
    ]);
  });

  test('may hold alarms, topics and queues, which are ignored', () => {
    expect(stack.output('AlertsTopicArn')).toMatch(/^arn:aws:sns:us-east-1:000000000000:Alerts/);
    const { statements } = functionNamed('Echo').principal;
    expect(statements?.find(({ actions }) => actions.includes('sqs:SendMessage'))?.resources).toEqual([
      expect.stringMatching(/^arn:aws:sqs:us-east-1:000000000000:Failures/),
    ]);
  });

  test('has its functions with their bundles, limits and variables', () => {
    const echo = functionNamed('Echo');
    expect(echo).toMatchObject({
      name: echo.logicalId,
      arn: `arn:aws:lambda:us-east-1:000000000000:function:${echo.logicalId}`,
      handlerExport: 'handler',
      timeoutSeconds: 5,
      memoryMegabytes: 256,
      logGroupName: expect.stringMatching(/^EchoLogs/),
    });
    expect(existsSync(echo.entryFile)).toBe(true);
    expect(() => echo.environment()).toThrow(/KeyPair .*not been made/);

    stack.customResources.set('KeyPair', { physicalResourceId: 'pair', data: { PublicKey: 'pem' } });

    expect(echo.environment()).toEqual({
      TABLE_NAME: stack.output('TableName'),
      KEY_PAIR_ID: expect.stringMatching(/^K/),
      PUBLIC_KEY: 'pem',
      DELIVERY_URL: expect.stringMatching(/^https:\/\/d[a-z0-9]{13}\.cloudfront\.net$/),
    });
  });

  test("gives each function a caller with its role's resolved statements", () => {
    const { principal } = functionNamed('Echo');
    const table = `arn:aws:dynamodb:us-east-1:000000000000:table/${stack.output('TableName')}`;

    expect(principal).toEqual({
      name: functionNamed('Echo').logicalId,
      accessKeyId: expect.stringMatching(/^AKIA[A-Z2-7]{16}$/),
      statements: expect.arrayContaining([
        {
          effect: 'Allow',
          actions: ['dynamodb:GetItem', 'dynamodb:Query'],
          resources: [table, `${table}/index/*`],
        },
        {
          effect: 'Allow',
          actions: ['secretsmanager:GetSecretValue', 'secretsmanager:DescribeSecret'],
          resources: [stack.secrets[0]?.arn],
        },
        {
          effect: 'Allow',
          actions: ['states:StartExecution'],
          resources: ['arn:aws:states:us-east-1:000000000000:stateMachine:Flow*'],
        },
        {
          effect: 'Allow',
          actions: ['dynamodb:DeleteItem'],
          resources: [table],
          leadingKeys: ['ORDER#*', 'ACCOUNT'],
        },
      ]),
    });
    expect(principal.accessKeyId).not.toBe(functionNamed('MakeKeyPair').principal.accessKeyId);
  });

  test('has its state machine with the placeholders filled in', () => {
    const [machine] = stack.stateMachines;
    const { arn } = functionNamed('Echo');

    expect(machine).toMatchObject({
      arn: stack.output('GenerationStateMachineArn'),
      roleName: expect.stringMatching(/^FlowRole/),
      principal: {
        statements: [{ effect: 'Allow', actions: ['lambda:InvokeFunction'], resources: [arn, `${arn}:*`] }],
      },
    });
    expect(JSON.parse(machine?.definition ?? '')).toEqual({
      StartAt: 'Echo',
      States: { Echo: { Type: 'Task', Resource: arn, End: true } },
    });
  });

  test('has its routes and gateway responses', () => {
    expect(stack.api).toMatchObject({
      stage: 'prod',
      binaryMediaTypes: [],
      routes: [
        {
          resourcePath: '/v1/things',
          method: 'GET',
          integration: {
            type: 'AWS_PROXY',
            functionArn: functionNamed('Echo').arn,
            timeoutMilliseconds: 29_000,
          },
        },
        {
          resourcePath: '/v1/things',
          method: 'ANY',
          integration: {
            type: 'MOCK',
            passthroughBehavior: 'NEVER',
            responses: [
              { statusCode: 405, headers: { 'X-Request-Id': 'context.requestId', Allow: "'GET'" } },
            ],
          },
        },
        { resourcePath: '/v1/things/{thingId}', method: 'GET' },
      ],
      gatewayResponses: {
        MISSING_AUTHENTICATION_TOKEN: {
          statusCode: 404,
          headers: { 'X-Request-Id': 'context.requestId' },
          templates: { 'application/json': expect.stringContaining('not_found') },
        },
      },
    });
  });

  test('has its distribution, with the trusted key from the custom resource', () => {
    stack.customResources.set('KeyPair', { physicalResourceId: 'pair', data: { PublicKey: 'pem' } });

    expect(stack.distribution()).toEqual({
      bucketName: stack.output('BucketName'),
      originPath: '',
      trustedKeys: new Map([[functionNamed('Echo').environment().KEY_PAIR_ID, 'pem']]),
    });
  });

  test('has no output of another name', () => {
    expect(stack.output('OtherStateMachineArn')).toBeUndefined();
  });
});

/** A policy variable. */
const placeholder = (name: string) => `\${${name}}`;

describe('the statements of a role', () => {
  const role = (Properties: Record<string, unknown>, others: Template['Resources'] = {}) => {
    const Resources = { Role: { Type: 'AWS::IAM::Role', Properties }, ...others };
    const [spec] = roleSpecs(createResolver({ Resources }, 'Shop', new Map())).values();
    return spec?.statements;
  };
  const document = (Statement: unknown) => ({ PolicyDocument: { Version: '2012-10-17', Statement } });

  test('come from inline, attached and managed policies of the template', () => {
    const statement = (Action: string) => document([{ Effect: 'Allow', Action, Resource: '*' }]);
    expect(
      role(
        {
          Policies: [statement('a:Inline')],
          ManagedPolicyArns: ['arn:aws:iam::aws:policy/X', { Ref: 'Managed' }],
        },
        {
          Attached: {
            Type: 'AWS::IAM::Policy',
            Properties: { Roles: [{ Ref: 'Role' }], ...statement('a:Attached') },
          },
          Others: { Type: 'AWS::IAM::Policy', Properties: { Roles: ['Another'], ...statement('a:Others') } },
          Managed: { Type: 'AWS::IAM::ManagedPolicy', Properties: statement('a:Managed') },
        },
      )?.flatMap(({ actions }) => actions),
    ).toEqual(['a:Inline', 'a:Attached', 'a:Managed']);
  });

  test('keep the condition on leading keys, of an Allow and of a Deny', () => {
    const condition = (patterns: unknown) => ({
      Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': patterns } },
    });
    const common = { Action: 'dynamodb:*', Resource: '*' };
    const statements = [
      { Effect: 'Allow', ...common, ...condition('ORDER#*') },
      { Effect: 'Deny', ...common, ...condition(['ORDER#1', 'ORDER#2']) },
    ];

    expect(role({ Policies: [document(statements)] })).toEqual([
      { effect: 'Allow', actions: ['dynamodb:*'], resources: ['*'], leadingKeys: ['ORDER#*'] },
      { effect: 'Deny', actions: ['dynamodb:*'], resources: ['*'], leadingKeys: ['ORDER#1', 'ORDER#2'] },
    ]);
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['operator', { Bool: { 'aws:SecureTransport': false } }, /Role: .*Bool on aws:SecureTransport/],
    ['quantifier', { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': 'a' } }, /ForAnyValue:StringLike/],
    ['key', { 'ForAllValues:StringLike': { 'dynamodb:Attributes': ['a'] } }, /dynamodb:Attributes/],
    [
      'variable',
      { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [placeholder('aws:userid')] } },
      /aws:userid/,
    ],
  ])('are refused with another condition: %s', (_other, Condition, message) => {
    for (const Effect of ['Allow', 'Deny']) {
      const statement = { Effect, Action: 'a:B', Resource: '*', Condition };

      expect(() => role({ Policies: [document(statement)] })).toThrow(message);
    }
  });

  test('are refused with NotAction or NotResource', () => {
    expect(() =>
      role({ Policies: [document({ Effect: 'Allow', NotAction: 'a:B', Resource: '*' })] }),
    ).toThrow(/Role: .*NotAction/);
  });
});

const aResolver = (Type: string, Properties: Record<string, unknown> = {}) =>
  createResolver({ Resources: { Thing: { Type, Properties } } }, 'Shop', new Map());

describe('resources of an unknown type', () => {
  test.each(['AWS::Lambda::EventSourceMapping', 'AWS::Scheduler::Schedule', 'AWS::EC2::VPC'])(
    'are refused by name: %s',
    (type) => {
      expect(() => refuseUnknownKinds(aResolver(type))).toThrow(`Thing (${type})`);
    },
  );

  test.each(['AWS::SNS::TopicPolicy', 'AWS::SQS::QueuePolicy', 'Custom::Anything'])(
    'do not include %s',
    (type) => {
      expect(() => refuseUnknownKinds(aResolver(type))).not.toThrow();
    },
  );
});

describe('a generated secret', () => {
  const draw = (GenerateSecretString: Record<string, unknown>) =>
    secretSpecs(aResolver('AWS::SecretsManager::Secret', { GenerateSecretString }))[0]?.initialValue;

  test('has at least one character of each type that is not excluded', () => {
    const drawn = Array.from({ length: 50 }, () => draw({ PasswordLength: 4 }));

    for (const value of drawn) {
      expect(value).toMatch(/^(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])(?=.*[^a-zA-Z0-9]).{4}$/);
    }
    expect(new Set(drawn).size).toBeGreaterThan(40);
  });

  test('is put under its key in the string template', () => {
    const value = draw({
      SecretStringTemplate: '{"user":"api"}',
      GenerateStringKey: 'password',
      PasswordLength: 8,
      ExcludePunctuation: true,
      ExcludeCharacters: 'abc',
    });

    expect(JSON.parse(value ?? '')).toEqual({
      user: 'api',
      password: expect.stringMatching(/^[A-Zd-z0-9]{8}$/),
    });
  });

  test('is refused when every character is excluded', () => {
    const nothing = { ExcludeLowercase: true, ExcludeUppercase: true, ExcludeNumbers: true };

    expect(() => draw({ ...nothing, ExcludePunctuation: true })).toThrow(/cannot draw/);
    expect(() => draw({ PasswordLength: 3 })).toThrow(/cannot draw 3/);
  });
});

describe('a rule', () => {
  const ruleOf = (Properties: Record<string, unknown>) => {
    const Resources = {
      Do: { Type: 'AWS::Lambda::Function' },
      Rule: { Type: 'AWS::Events::Rule', Properties },
    };
    return ruleSpecs(createResolver({ Resources }, 'Shop', new Map()))[0];
  };
  const target = { Id: '0', Arn: { 'Fn::GetAtt': ['Do', 'Arn'] } };
  const hourly = { ScheduleExpression: 'rate(1 hour)', Targets: [target] };

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['on another bus', { ...hourly, EventBusName: 'orders' }, /Rule: .*default event bus/],
    ['with a target that is no function', { Targets: [{ Id: '0', Arn: 'arn:aws:sns:x' }] }, /arn:aws:sns:x/],
    ['with an input that is rewritten', { Targets: [{ ...target, InputPath: '$.detail' }] }, /InputPath/],
    ['with an input that is not JSON', { Targets: [{ ...target, Input: '{' }] }, /Rule: .*JSON/],
    [
      'with a schedule that is none',
      { ...hourly, ScheduleExpression: 'rate(1 minutes)' },
      /rate\(1 minutes\)/,
    ],
    [
      'with a matcher that is not known',
      { EventPattern: { detail: { status: [{ 'anything-but': 'FAILED' }] } } },
      /Rule: .*detail\.status/,
    ],
  ])('is refused %s', (_title, properties, message) => {
    expect(() => ruleOf(properties)).toThrow(message);
  });

  test('may hold a retry policy for its target, which is ignored', () => {
    const tried = { ...target, RetryPolicy: { MaximumRetryAttempts: 2 }, DeadLetterConfig: { Arn: 'x' } };

    expect(ruleOf({ ...hourly, Targets: [tried] })).toEqual(ruleOf(hourly));
  });
});
