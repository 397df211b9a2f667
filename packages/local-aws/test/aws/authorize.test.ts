import { describe, expect, test } from '@jest/globals';

import { findRefusal, matchesPattern, type Permission, permissionUse } from '../../src/aws/authorize.ts';
import { createDynamoDbPermissions } from '../../src/aws/permissions/dynamodb.ts';
import { readS3Request } from '../../src/aws/permissions/s3.ts';
import { stepFunctionsPermissions } from '../../src/aws/permissions/step-functions.ts';
import { readRequestTarget } from '../../src/aws/request-target.ts';
import type { PolicyStatement } from '../../src/types.ts';
import {
  ACCOUNT,
  allow,
  aPrincipal,
  machineArn,
  OPERATOR,
  REGION,
  TABLE,
  TABLE_ARN,
  TABLES,
} from './support.ts';

const place = { region: REGION, accountId: ACCOUNT };
const dynamodbPermissions = createDynamoDbPermissions(place, TABLES);

describe('permissionUse', () => {
  test('tells which allowed actions were needed, and with which statement', () => {
    const reader: PolicyStatement = {
      ...{ effect: 'Allow', actions: ['dynamodb:GetItem', 'dynamodb:Query'], resources: [TABLE_ARN] },
      leadingKeys: ['A#*'],
    };
    const writer: PolicyStatement = { effect: 'Allow', actions: ['s3:Put*'], resources: ['*'] };
    const principal = aPrincipal('Reader', reader, writer);
    const call = (action: string, leadingKeys: string[]) =>
      findRefusal(principal, [{ action, resource: TABLE_ARN, leadingKeys }]);

    call('dynamodb:GetItem', ['A#1']);
    call('dynamodb:Query', ['B#1']);
    findRefusal(principal, [{ action: 's3:PutObject', resource: 'arn:aws:s3:::b/o' }]);

    const ofReader = { principal: 'Reader', resources: [TABLE_ARN], leadingKeys: ['A#*'] };
    expect(permissionUse([principal, OPERATOR])).toEqual([
      { ...ofReader, action: 'dynamodb:GetItem', isUsed: true },
      // The call for B was refused.
      { ...ofReader, action: 'dynamodb:Query', isUsed: false },
      { principal: 'Reader', action: 's3:Put*', resources: ['*'], isUsed: true },
    ]);
  });
});

describe('matchesPattern', () => {
  test.each([
    ['*', 'anything', true],
    ['*', '', true],
    ['dynamodb:*Item', 'dynamodb:PutItem', true],
    ['dynamodb:*Item', 'dynamodb:PutItems', false],
    ['s3:Get?bject', 's3:GetObject', true],
    ['s3:Get?bject', 's3:Getbject', false],
    ['arn:aws:s3:::b/*', 'arn:aws:s3:::b/a/b.png', true],
    ['arn:aws:s3:::b/*', 'arn:aws:s3:::b', false],
    ['a*b*c', 'aXbYbZc', true],
    ['a*b*c', 'aXbYbZ', false],
    ['a.c', 'abc', false],
  ])('%s against %s: %s', (pattern, text, expected) => {
    expect(matchesPattern(pattern, text)).toBe(expected);
  });
});

describe('findRefusal', () => {
  const deny = (actions: string[], ...resources: string[]): PolicyStatement => ({
    effect: 'Deny',
    actions,
    resources,
  });
  const put = { action: 'dynamodb:PutItem', resource: TABLE_ARN };
  const remove = { action: 'dynamodb:DeleteItem', resource: TABLE_ARN };
  const noPolicy = (action: string) =>
    `User: caller is not authorized to perform: ${action} on resource: ${TABLE_ARN} because no identity-based policy allows the ${action} action`;
  const explicitDeny = `User: caller is not authorized to perform: dynamodb:PutItem on resource: ${TABLE_ARN} with an explicit deny in an identity-based policy`;

  test.each([
    ['an allow covers it', [allow(['dynamodb:PutItem'], TABLE_ARN)], [put], undefined],
    ['actions have no case', [allow(['DynamoDB:putitem'], TABLE_ARN)], [put], undefined],
    ['nothing is needed', [], [], undefined],
    ['there is no statement', [], [put], noPolicy('dynamodb:PutItem')],
    ['the resource is another', [allow(['*'], `${TABLE_ARN}x`)], [put], noPolicy('dynamodb:PutItem')],
    [
      'a table does not cover its indexes',
      [allow(['dynamodb:*'], TABLE_ARN)],
      [{ action: 'dynamodb:Query', resource: `${TABLE_ARN}/index/GSI1` }],
      `User: caller is not authorized to perform: dynamodb:Query on resource: ${TABLE_ARN}/index/GSI1 because no identity-based policy allows the dynamodb:Query action`,
    ],
    [
      'one of two is missing',
      [allow(['dynamodb:PutItem'], '*')],
      [put, remove],
      noPolicy('dynamodb:DeleteItem'),
    ],
    ['a deny beats an allow', [allow(['*'], '*'), deny(['dynamodb:Put*'], TABLE_ARN)], [put], explicitDeny],
    ['a deny of something else', [allow(['*'], '*'), deny(['dynamodb:Put*'], '*x')], [put], undefined],
  ])('%s', (_case, statements, permissions, expected) => {
    expect(findRefusal(aPrincipal('caller', ...statements), permissions)).toBe(expected);
  });

  test('a principal without statements may do everything', () => {
    expect(findRefusal(OPERATOR, [put])).toBeUndefined();
  });
});

describe('a statement on leading keys', () => {
  const limited: PolicyStatement = {
    ...allow(['dynamodb:*'], TABLE_ARN),
    leadingKeys: ['ORDER#*', 'ACCOUNT'],
  };
  const get = (...leadingKeys: string[]) => ({
    action: 'dynamodb:GetItem',
    resource: TABLE_ARN,
    leadingKeys,
  });
  const isRefused = (statements: PolicyStatement[], permission: Permission) =>
    findRefusal(aPrincipal('caller', ...statements), [permission]) !== undefined;

  test.each([
    ['a key it names', get('ACCOUNT'), false],
    ['keys that all match', get('ORDER#1', 'ORDER#2', 'ACCOUNT'), false],
    ['another key', get('ACCOUNTS'), true],
    ['one key among several that does not match', get('ORDER#1', 'order#2'), true],
    ['a key that cannot be told', get(''), true],
    ['a call that names no key, as on AWS', { action: 'dynamodb:Scan', resource: TABLE_ARN }, false],
  ])('with %s', (_case, permission, expected) => {
    expect(isRefused([limited], permission)).toBe(expected);
  });

  test('refuses, as a Deny, when every key matches', () => {
    const statements = [allow(['*'], '*'), { ...limited, effect: 'Deny' as const }];

    expect(isRefused(statements, get('ORDER#1'))).toBe(true);
    expect(isRefused(statements, get('ORDER#1', 'OTHER'))).toBe(false);
  });
});

describe('the leading keys of a DynamoDB call', () => {
  const key = (value: string) => ({ PK: { S: value }, SK: { S: 'x' } });
  const query = (KeyConditionExpression: string, rest: object = {}) => ({
    TableName: TABLE,
    KeyConditionExpression,
    ExpressionAttributeValues: { ':a': { S: 'A' }, ':b': { S: 'B' } },
    ...rest,
  });
  test.each<[string, Record<string, unknown>, string[][]]>([
    ['GetItem', { TableName: TABLE, Key: key('A') }, [['A']]],
    ['PutItem', { TableName: TABLE_ARN, Item: key('A') }, [['A']]],
    ['UpdateItem', { TableName: TABLE, Key: key('A') }, [['A']]],
    ['DeleteItem', { TableName: TABLE, Key: key('A') }, [['A']]],
    ['DeleteItem', { TableName: TABLE, Key: { PK: { N: '7' } } }, [['7']]],
    ['GetItem', { TableName: 'unknown', Key: key('A') }, [['']]],
    ['GetItem', { TableName: TABLE }, [['']]],
    ['Query', query('PK = :a'), [['A']]],
    ['Query', query('PK=:a AND begins_with(SK, :b)'), [['A']]],
    ['Query', query('SK = :b AND PK = :a'), [['A']]],
    ['Query', query('SK <= :b AND PK = :a'), [['A']]],
    [
      'Query',
      query('#p = :a AND #s = :b', { ExpressionAttributeNames: { '#p': 'PK', '#s': 'SK' } }),
      [['A']],
    ],
    ['Query', query('GSI1PK = :b', { IndexName: 'GSI1' }), [['B']]],
    ['Query', query('PK = :a', { IndexName: 'GSI1' }), [['']]],
    ['Query', query('SK = :a'), [['']]],
    ['BatchGetItem', { RequestItems: { [TABLE]: { Keys: [key('A'), key('B'), key('A')] } } }, [['A', 'B']]],
    [
      'BatchWriteItem',
      {
        RequestItems: {
          [TABLE]: [{ PutRequest: { Item: key('A') } }, { DeleteRequest: { Key: key('B') } }],
        },
      },
      [['A', 'B']],
    ],
    [
      'TransactWriteItems',
      {
        TransactItems: [
          { Put: { TableName: TABLE, Item: key('A') } },
          { Update: { TableName: TABLE, Key: key('B') } },
          { ConditionCheck: { TableName: TABLE, Key: key('C') } },
          { Update: { TableName: TABLE, Key: key('B') } },
        ],
      },
      // Each action by all the keys of the transaction.
      [
        ['A', 'B', 'C'],
        ['A', 'B', 'C'],
        ['A', 'B', 'C'],
      ],
    ],
    ['TransactGetItems', { TransactItems: [{ Get: { TableName: TABLE, Key: key('A') } }] }, [['A']]],
  ])('%s %j', (operation, body, expected) => {
    expect(dynamodbPermissions(operation, body).map(({ leadingKeys }) => leadingKeys)).toEqual(expected);
  });
});

describe('the permissions of a DynamoDB call', () => {
  const item = { TableName: TABLE };
  test.each([
    ['GetItem', { TableName: TABLE }, [`dynamodb:GetItem ${TABLE_ARN}`]],
    ['GetItem', { TableName: TABLE_ARN }, [`dynamodb:GetItem ${TABLE_ARN}`]],
    ['Query', { TableName: TABLE }, [`dynamodb:Query ${TABLE_ARN}`]],
    ['Query', { TableName: TABLE, IndexName: 'GSI1' }, [`dynamodb:Query ${TABLE_ARN}/index/GSI1`]],
    ['Scan', { TableName: TABLE, IndexName: 'GSI1' }, [`dynamodb:Scan ${TABLE_ARN}/index/GSI1`]],
    ['BatchGetItem', { RequestItems: { [TABLE]: {} } }, [`dynamodb:BatchGetItem ${TABLE_ARN}`]],
    [
      'BatchWriteItem',
      { RequestItems: { [TABLE]: [], other: [] } },
      [
        `dynamodb:BatchWriteItem ${TABLE_ARN}`,
        `dynamodb:BatchWriteItem ${TABLE_ARN.replace(TABLE, 'other')}`,
      ],
    ],
    [
      'TransactGetItems',
      { TransactItems: [{ Get: item }, { Get: item }] },
      [`dynamodb:GetItem ${TABLE_ARN}`],
    ],
    [
      'TransactWriteItems',
      {
        TransactItems: [
          { Put: item },
          { Update: item },
          { Delete: item },
          { ConditionCheck: item },
          { Put: item },
        ],
      },
      ['PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'].map(
        (action) => `dynamodb:${action} ${TABLE_ARN}`,
      ),
    ],
    ['ListTables', {}, ['dynamodb:ListTables *']],
  ])('%s %j', (operation, body, expected) => {
    const needed = dynamodbPermissions(operation, body);

    expect(needed.map(({ action, resource }) => `${action} ${resource}`)).toEqual(expected);
  });
});

describe('the operation and permissions of an S3 request', () => {
  const object = 'arn:aws:s3:::b/k/1.png';
  test.each([
    ['PUT /b/k/1.png?x-id=PutObject', 'PutObject', [`s3:PutObject ${object}`]],
    ['GET /b/k/1.png', 'GetObject', [`s3:GetObject ${object}`]],
    ['HEAD /b/k/1.png', 'HeadObject', [`s3:GetObject ${object}`]],
    ['DELETE /b/k/1.png', 'DeleteObject', [`s3:DeleteObject ${object}`]],
    ['POST /b/k/1.png?uploads', 'CreateMultipartUpload', [`s3:PutObject ${object}`]],
    ['PUT /b/k/1.png?partNumber=1&uploadId=u', 'UploadPart', [`s3:PutObject ${object}`]],
    ['POST /b/k/1.png?uploadId=u', 'CompleteMultipartUpload', [`s3:PutObject ${object}`]],
    ['DELETE /b/k/1.png?uploadId=u', 'AbortMultipartUpload', [`s3:AbortMultipartUpload ${object}`]],
    ['GET /b?list-type=2&prefix=k', 'ListObjectsV2', ['s3:ListBucket arn:aws:s3:::b']],
    ['POST /b?delete', 'DeleteObjects', []],
    ['GET /b/a%20b%2Bc', 'GetObject', ['s3:GetObject arn:aws:s3:::b/a b+c']],
    ['GET /b?policy', 'Unknown', ['s3:* arn:aws:s3:::b']],
    ['HEAD /b', 'Unknown', ['s3:* arn:aws:s3:::b']],
    ['GET /', 'Unknown', ['s3:* *']],
    ['GET /b/k?versionId=1', 'Unknown', ['s3:* arn:aws:s3:::b/k']],
  ])('%s', (line, operation, expected) => {
    const [method = '', path = ''] = line.split(' ');

    const call = readS3Request(method, readRequestTarget(path));

    expect(call.operation).toBe(operation);
    expect(call.permissions.map(({ action, resource }) => `${action} ${resource}`)).toEqual(expected);
  });

  test('a copy is unknown', () => {
    expect(readS3Request('PUT', readRequestTarget('/b/k'), true).operation).toBe('Unknown');
  });
});

describe('the permissions of a Step Functions call', () => {
  const machine = machineArn('generation');
  const execution = `${machine.replace('stateMachine', 'execution')}:one`;
  test.each([
    ['StartExecution', { stateMachineArn: machine }, machine],
    ['ListExecutions', { stateMachineArn: machine }, machine],
    ['DescribeExecution', { executionArn: execution }, execution],
    ['GetExecutionHistory', { executionArn: execution }, execution],
    ['StopExecution', { executionArn: execution }, execution],
    ['SendTaskSuccess', { taskToken: 't' }, machine],
    ['ListStateMachines', {}, '*'],
  ])('%s', (operation, body, resource) => {
    expect(stepFunctionsPermissions(operation, body, machine)).toEqual([
      { action: `states:${operation}`, resource },
    ]);
  });
});
