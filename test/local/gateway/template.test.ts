import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Template } from '../../../local/template/assembly.ts';
import { createResolver } from '../../../local/template/resolver.ts';
import { roleSpecs } from '../../../local/template/roles.ts';
import { readStack, type Stack } from '../../../local/template.ts';
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

  test('has its bucket, and its secrets under the names that the outputs say', () => {
    expect(stack.buckets).toEqual([stack.output('BucketName')]);
    expect(stack.secrets.map(({ name }) => name)).toEqual([
      stack.output('ModelArkSecretName'),
      'service/model-studio-key',
      expect.stringMatching(/^SigningKey/),
    ]);
    expect(stack.secrets[1]).toEqual({
      arn: expect.stringMatching(/:secret:service\/model-studio-key-[a-z0-9]{6}$/),
      name: stack.output('ModelStudioSecretName'),
      initialValue: expect.stringMatching(/^.{32}$/),
    });
    expect(stack.secrets[2]).not.toHaveProperty('initialValue');
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

  test('gives each function a caller with the resolved statements of its role', () => {
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

  test('has its distribution, with the trusted key that the custom resource made', () => {
    stack.customResources.set('KeyPair', { physicalResourceId: 'pair', data: { PublicKey: 'pem' } });

    expect(stack.distribution()).toEqual({
      bucketName: stack.output('BucketName'),
      originPath: '',
      trustedKeys: new Map([[functionNamed('Echo').environment().KEY_PAIR_ID, 'pem']]),
    });
  });

  test('has no output of another name', () => {
    expect(stack.output('ExpiryStateMachineArn')).toBeUndefined();
  });
});

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

  test('keep a Deny, except one that depends on a condition', () => {
    const deny = (Action: string, more = {}) => ({ Effect: 'Deny', Action, Resource: '*', ...more });
    const statements = [
      deny('a:One'),
      deny('a:Two', { Condition: { Bool: { 'aws:SecureTransport': false } } }),
    ];

    expect(role({ Policies: [document(statements)] })).toEqual([
      { effect: 'Deny', actions: ['a:One'], resources: ['*'] },
    ]);
  });

  test('are refused when they are written by exclusion', () => {
    expect(() =>
      role({ Policies: [document({ Effect: 'Allow', NotAction: 'a:B', Resource: '*' })] }),
    ).toThrow(/Role: .*NotAction/);
  });
});
