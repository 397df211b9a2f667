import { describe, expect, test } from '@jest/globals';
import { partitionQuery, setAll } from '../../../../core/table/table.ts';

describe('the parts of an update', () => {
  test.each<[string, object, object, ReturnType<typeof setAll>]>([
    [
      'sets attributes by names that may be reserved words',
      { status: 'queued', n: 0 },
      {},
      {
        UpdateExpression: 'SET #status = :status, #n = :n',
        ExpressionAttributeNames: { '#status': 'status', '#n': 'n' },
        ExpressionAttributeValues: { ':status': 'queued', ':n': 0 },
      },
    ],
    [
      'only removes attributes, without values, which DynamoDB would refuse',
      { one: undefined, other: undefined },
      {},
      {
        UpdateExpression: 'REMOVE #one, #other',
        ExpressionAttributeNames: { '#one': 'one', '#other': 'other' },
      },
    ],
    [
      'does both, beside values of its condition',
      { set: 1, removed: undefined },
      { ':was': 2 },
      {
        UpdateExpression: 'SET #set = :set REMOVE #removed',
        ExpressionAttributeNames: { '#set': 'set', '#removed': 'removed' },
        ExpressionAttributeValues: { ':set': 1, ':was': 2 },
      },
    ],
  ])('that %s', (_, attributes, otherValues, expected) => {
    expect(setAll({ ...attributes }, { ...otherValues })).toStrictEqual(expected);
  });
});

test('a query of a partition names no beginning that it is not given', () => {
  expect(partitionQuery('A')).toMatchObject({
    KeyConditionExpression: 'PK = :PK',
    ExpressionAttributeValues: { ':PK': 'A' },
  });
  expect(partitionQuery('A').ExpressionAttributeValues).not.toHaveProperty(':beginning');
  expect(partitionQuery('A', 'B#')).toMatchObject({
    KeyConditionExpression: 'PK = :PK AND begins_with(SK, :beginning)',
    ExpressionAttributeValues: { ':PK': 'A', ':beginning': 'B#' },
    ConsistentRead: true,
  });
});
