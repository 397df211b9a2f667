import { describe, expect, test } from '@jest/globals';

import { findRefusal, type Permission } from '../../src/aws/authorize.ts';
import { createDynamoDbPermissions } from '../../src/aws/permissions/dynamodb.ts';
import type { PolicyStatement } from '../../src/types.ts';
import { ACCOUNT, allow, aPrincipal, REGION, TABLE, TABLE_ARN, TABLES } from './support.ts';

const dynamodbPermissions = createDynamoDbPermissions({ region: REGION, accountId: ACCOUNT }, TABLES);

describe('a statement on attributes', () => {
  const named: PolicyStatement = { ...allow(['dynamodb:*'], TABLE_ARN), attributes: ['PK', 'SK', 'count'] };
  const guarded: PolicyStatement = { ...named, present: ['attributes'] };
  const update = (...attributes: string[]): Permission => ({
    ...{ action: 'dynamodb:UpdateItem', resource: TABLE_ARN, attributes },
  });
  const nothing: Permission = { action: 'dynamodb:UpdateItem', resource: TABLE_ARN };

  test.each<[string, PolicyStatement, Permission, boolean]>([
    ['those it lists', guarded, update('PK', 'SK', 'count'), false],
    ['another one among them', guarded, update('PK', 'SK', 'count', 'digest'), true],
    ['one that only begins alike: they are no patterns', guarded, update('PK', 'SK', 'counts'), true],
    ['none, as IAM meets ForAllValues then', named, nothing, false],
    ['none, with Null beside it', guarded, nothing, true],
    ['an empty list, with Null beside it', guarded, update(), true],
  ])('with %s', (_case, statement, permission, expected) => {
    expect(findRefusal(aPrincipal('caller', statement), [permission]) !== undefined).toBe(expected);
  });
});

describe('the attributes of a DynamoDB call', () => {
  const key = { PK: { S: 'A' }, SK: { S: 'x' } };
  const on = (rest: object) => ({ TableName: TABLE, Key: key, ...rest });
  const put = { Put: { TableName: TABLE, Item: { ...key, number: { N: '1' } } } };
  const check = { ConditionCheck: on({ ConditionExpression: 'attribute_exists(email)' }) };

  test.each<[string, Record<string, unknown>, string]>([
    ['GetItem', on({}), 'PK SK'],
    ['GetItem', on({ ProjectionExpression: 'a, #b.c[0].d' }), 'PK SK #b a'],
    [
      'GetItem',
      on({ ProjectionExpression: '#b.#c', ExpressionAttributeNames: { '#b': 'b', '#c': 'c' } }),
      'PK SK b',
    ],
    ['GetItem', on({ AttributesToGet: ['a'] }), 'PK SK a'],
    ['PutItem', { TableName: TABLE, Item: { ...key, a: { S: '' } } }, 'PK SK a'],
    [
      'UpdateItem',
      on({
        UpdateExpression:
          'SET tat = :now + intervalMs, lastUsedAt=:at REMOVE old ADD hits :one DELETE tags :tags',
        ConditionExpression:
          'attribute_exists(PK) AND (attribute_not_exists(revokedAt) OR NOT digest IN (:d))',
      }),
      'PK SK digest hits intervalMs lastUsedAt old revokedAt tags tat',
    ],
    [
      'UpdateItem',
      on({
        UpdateExpression: 'set list = list_append(if_not_exists(list, :none), :more)',
        ConditionExpression:
          'size(pages) between :a and :b and begins_with(#n, :x) and outcome.kind = :accepted',
        ExpressionAttributeNames: { '#n': 'name' },
      }),
      'PK SK list name outcome pages',
    ],
    [
      'UpdateItem',
      on({ AttributeUpdates: { digest: {} }, Expected: { revokedAt: {} } }),
      'PK SK digest revokedAt',
    ],
    ['DeleteItem', on({ ConditionExpression: 'a=b' }), 'PK SK a b'],
    [
      'Query',
      { TableName: TABLE, KeyConditionExpression: 'PK = :p', FilterExpression: 'attribute_exists(a)' },
      'PK a',
    ],
    ['Scan', { TableName: TABLE, FilterExpression: 'a > :a' }, 'a'],
    ['BatchGetItem', { RequestItems: { [TABLE]: { Keys: [key], ProjectionExpression: 'a' } } }, 'PK SK a'],
    [
      'BatchWriteItem',
      {
        RequestItems: {
          [TABLE]: [{ DeleteRequest: { Key: key } }, { PutRequest: { Item: { a: { S: '' } } } }],
        },
      },
      'PK SK a',
    ],
  ])('%s %j', (operation, body, expected) => {
    const [{ attributes = [] } = {}] = dynamodbPermissions(operation, body);

    expect(attributes.toSorted().join(' ')).toBe(expected.split(' ').toSorted().join(' '));
  });

  test('of a transaction are those of all its items on the table, for each action', () => {
    const permissions = dynamodbPermissions('TransactWriteItems', { TransactItems: [put, check] });

    expect(permissions.map(({ action, attributes }) => [action, attributes])).toEqual([
      ['dynamodb:PutItem', ['PK', 'SK', 'number', 'email']],
      ['dynamodb:ConditionCheckItem', ['PK', 'SK', 'number', 'email']],
    ]);
  });
});
