import { DescribeTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';

import { startDynoxide } from '../../src/aws/dynamodb/dynoxide.ts';
import { clientsOf, endpointOptions, rejectionOf, TABLE } from './support.ts';
import { useEndpoint } from './use-endpoint.ts';

const endpoint = useEndpoint(endpointOptions());
let ddb: DynamoDBDocumentClient;
beforeAll(() => {
  ddb = DynamoDBDocumentClient.from(clientsOf(endpoint).dynamodb);
});

const key = (PK: string, SK = 'x') => ({ PK, SK });
const put = (Item: Record<string, unknown>) => ddb.send(new PutCommand({ TableName: TABLE, Item }));
const get = async (Key: Record<string, string>) =>
  (await ddb.send(new GetCommand({ TableName: TABLE, Key, ConsistentRead: true }))).Item;

test('the engine is at a random address of loopback, which the endpoint does not tell', async () => {
  const engines = [await startDynoxide(':memory:'), await startDynoxide(':memory:')];
  const hosts = engines.map(({ url }) => new URL(url).hostname);
  await Promise.all(engines.map((engine) => engine.stop()));

  expect(new Set([...hosts, '127.0.0.1']).size).toBe(3);
  for (const host of hosts) expect(host).toMatch(/^127\.\d+\.\d+\.\d+$/);
  expect(Object.keys(endpoint)).not.toContain('engine');
  expect(new URL(endpoint.url).hostname).toBe('127.0.0.1');
});

test('an engine that ends before it answers says why in the error alone: each attempt to start it is quiet', async () => {
  const error = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  const started = startDynoxide('/dev/null/no-folder/dynamodb.sqlite');

  await expect(started).rejects.toThrow(/^The DynamoDB engine did not start: .+/);
  expect(error).not.toHaveBeenCalled();
  error.mockRestore();
});

describe('DynamoDB behind the endpoint', () => {
  test('an update computes, with defaults, and returns the new item', async () => {
    await put({ ...key('sum'), balance: 10 });

    const { Attributes } = await ddb.send(
      new UpdateCommand({
        TableName: TABLE,
        Key: key('sum'),
        UpdateExpression: 'SET balance = balance - :cost, entries = if_not_exists(entries, :zero) + :one',
        ConditionExpression: 'balance >= :cost',
        ExpressionAttributeValues: { ':cost': 4, ':zero': 0, ':one': 1 },
        ReturnValues: 'ALL_NEW',
      }),
    );

    expect(Attributes).toEqual({ ...key('sum'), balance: 6, entries: 1 });
  });

  test('a refused update returns the item that refused it', async () => {
    await put({ ...key('poor'), balance: 1 });

    const refused = ddb.send(
      new UpdateCommand({
        TableName: TABLE,
        Key: key('poor'),
        UpdateExpression: 'SET balance = balance - :cost',
        ConditionExpression: 'balance >= :cost',
        ExpressionAttributeValues: { ':cost': 4 },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );

    expect(await rejectionOf(refused)).toMatchObject({
      name: 'ConditionalCheckFailedException',
      Item: { balance: { N: '1' } },
    });
  });

  test("a cancelled transaction gives each item's reason and changes nothing", async () => {
    await put({ ...key('account'), balance: 1 });

    const cancelled = ddb.send(
      new TransactWriteCommand({
        TransactItems: [
          { Put: { TableName: TABLE, Item: key('never') } },
          {
            Update: {
              TableName: TABLE,
              Key: key('account'),
              UpdateExpression: 'SET balance = balance - :cost',
              ConditionExpression: 'balance >= :cost',
              ExpressionAttributeValues: { ':cost': 4 },
              ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
            },
          },
        ],
      }),
    );

    expect(await rejectionOf(cancelled)).toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [
        { Code: 'None' },
        { Code: 'ConditionalCheckFailed', Item: { PK: { S: 'account' }, balance: { N: '1' } } },
      ],
    });
    expect(await get(key('never'))).toBeUndefined();
  });

  test('a transaction with a used token is not applied again', async () => {
    await put({ ...key('once'), count: 0 });
    const add = () =>
      ddb.send(
        new TransactWriteCommand({
          ClientRequestToken: 'the-same-token',
          TransactItems: [
            {
              Update: {
                TableName: TABLE,
                Key: key('once'),
                UpdateExpression: 'ADD #c :one',
                ExpressionAttributeNames: { '#c': 'count' },
                ExpressionAttributeValues: { ':one': 1 },
              },
            },
          ],
        }),
      );

    await add();
    await add();

    expect(await get(key('once'))).toMatchObject({ count: 1 });
  });

  test('an index is counted and paged, backwards too', async () => {
    for (let at = 0; at < 5; at += 1) {
      await put({ ...key('list', `s${at}`), GSI1PK: 'newest', GSI1SK: `t${at}`, prompt: 'not projected' });
    }
    const query = (rest: object) =>
      ddb.send(
        new QueryCommand({
          TableName: TABLE,
          IndexName: 'GSI1',
          KeyConditionExpression: 'GSI1PK = :pk',
          ExpressionAttributeValues: { ':pk': 'newest' },
          ScanIndexForward: false,
          ...rest,
        }),
      );

    const startKey = { ...key('elsewhere'), GSI1PK: 'oldest', GSI1SK: '1' };
    expect(await rejectionOf(query({ ExclusiveStartKey: startKey }))).toMatchObject({
      name: 'ValidationException',
      message: 'The provided starting key is outside query boundaries based on provided conditions',
    });
    const skipped = await query({ Select: 'COUNT', Limit: 2 });
    const page = await query({ Limit: 2, ExclusiveStartKey: skipped.LastEvaluatedKey });

    expect(skipped).toMatchObject({ Count: 2, LastEvaluatedKey: { GSI1SK: 't3' } });
    expect(page.Items).toEqual([
      { ...key('list', 's2'), GSI1PK: 'newest', GSI1SK: 't2' },
      { ...key('list', 's1'), GSI1PK: 'newest', GSI1SK: 't1' },
    ]);
  });

  test('batches and transactions read the existing items', async () => {
    await ddb.send(
      new BatchWriteCommand({ RequestItems: { [TABLE]: [{ PutRequest: { Item: key('batch') } }] } }),
    );

    const batch = await ddb.send(
      new BatchGetCommand({ RequestItems: { [TABLE]: { Keys: [key('batch'), key('absent')] } } }),
    );
    const together = await ddb.send(
      new TransactGetCommand({ TransactItems: [{ Get: { TableName: TABLE, Key: key('batch') } }] }),
    );

    expect(batch.Responses?.[TABLE]).toEqual([key('batch')]);
    expect(together.Responses).toEqual([{ Item: key('batch') }]);
  });

  test('the table has time to live', async () => {
    const { TimeToLiveDescription } = await clientsOf(endpoint).dynamodb.send(
      new DescribeTimeToLiveCommand({ TableName: TABLE }),
    );

    expect(TimeToLiveDescription).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'ttl' });
  });

  test('concurrent updates of one item are all applied', async () => {
    await put({ ...key('counter'), seen: 0 });

    await Promise.all(
      Array.from({ length: 50 }, () =>
        ddb.send(
          new UpdateCommand({
            TableName: TABLE,
            Key: key('counter'),
            UpdateExpression: 'SET seen = seen + :one',
            ExpressionAttributeValues: { ':one': 1 },
          }),
        ),
      ),
    );

    expect(await get(key('counter'))).toMatchObject({ seen: 50 });
  });
});
