import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readStack, type Stack } from '../../src/template.ts';
import { synthesizeFixture } from './a-stack.ts';

const folder = mkdtempSync(join(tmpdir(), 'template-'));
let stack: Stack;

beforeAll(() => {
  synthesizeFixture(folder);
  stack = readStack(folder);
});
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
        targets: [{ functionArn: arn, retryAttempts: 2, input: { sweep: true } }],
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
        targets: [{ functionArn: arn, retryAttempts: 2 }],
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
    expect(JSON.parse(machine?.definition ?? '').States.Echo.Parameters).toEqual({ FunctionName: arn });
  });

  test('has its routes and gateway responses', () => {
    expect(stack.api).toMatchObject({
      stage: 'prod',
      binaryMediaTypes: [],
      routes: [
        {
          resourcePath: '/v1/things',
          method: 'GET',
          integration: { functionArn: functionNamed('Echo').arn, timeoutMilliseconds: 29_000 },
        },
        { resourcePath: '/v1/things', method: 'ANY' },
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
      compresses: true,
      trustedKeys: new Map([[functionNamed('Echo').environment().KEY_PAIR_ID, 'pem']]),
    });
  });

  test('has no output of another name', () => {
    expect(stack.output('OtherStateMachineArn')).toBeUndefined();
  });
});
