import '../../builders/environment.ts';
import { BatchGetCommand, BatchWriteCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { RateLimitedError } from '../../../../core/errors.ts';
import { batchGetAll, deleteItems } from '../../../../core/table/batches.ts';
import type { ItemKey } from '../../../../core/table/keys.ts';
import { queryAll } from '../../../../core/table/queries.ts';
import { type StoredItem, table } from '../../../../core/table/table.ts';

const client = mockClient(table);
jest.spyOn(Math, 'random').mockReturnValue(0);
beforeEach(() => {
  client.reset();
});

const keys = (count: number): ItemKey[] =>
  Array.from({ length: count }, (_, index) => ({ PK: `item ${index}`, SK: 'x' }));

describe('reading any number of items', () => {
  const sizes = () =>
    client.commandCalls(BatchGetCommand).map(({ args }) => args[0].input.RequestItems?.table?.Keys?.length);

  test.each([
    [0, []],
    [1, [1]],
    [100, [100]],
    [101, [100, 1]],
    [250, [100, 100, 50]],
  ])('of %p takes calls of %p keys and keeps their order, gaps included', async (count, expected) => {
    client.on(BatchGetCommand).callsFake(async ({ RequestItems }) => ({
      Responses: { table: RequestItems.table.Keys.filter(({ PK }: ItemKey) => PK !== 'item 1').reverse() },
    }));

    const items = await batchGetAll(keys(count));

    expect(items).toEqual(keys(count).map((key) => (key.PK === 'item 1' ? undefined : key)));
    expect(sizes()).toEqual(expected);
  });
});

describe('reading all that a query finds', () => {
  const place = { PK: 'b', SK: 'x' };
  const query = { TableName: 'table', KeyConditionExpression: 'PK = :one' };
  const inputs = () => client.commandCalls(QueryCommand).map(({ args }) => args[0].input);
  const taken = async (most = Number.POSITIVE_INFINITY, expected?: number): Promise<StoredItem[]> => {
    const items: StoredItem[] = [];
    for await (const item of queryAll(query, expected)) {
      items.push(item);
      if (items.length === most) break;
    }
    return items;
  };
  beforeEach(() => {
    client
      .on(QueryCommand)
      .resolvesOnce({ Items: [{ n: 1 }, { n: 2 }], LastEvaluatedKey: place })
      .resolvesOnce({ Items: [], LastEvaluatedKey: { ...place, SK: 'y' } })
      .resolvesOnce({ Items: [{ n: 3 }] });
  });

  test('goes on to the end, over empty pages, asking for so many items only the first time', async () => {
    expect(await taken(undefined, 2)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(inputs()).toEqual([
      { ...query, Limit: 2, ExclusiveStartKey: undefined },
      { ...query, Limit: undefined, ExclusiveStartKey: place },
      { ...query, Limit: undefined, ExclusiveStartKey: { ...place, SK: 'y' } },
    ]);
  });

  test('asks for no number of items when none is expected', async () => {
    await taken();

    expect(inputs().map(({ Limit }) => Limit)).toEqual([undefined, undefined, undefined]);
  });

  test('makes no call for what nobody takes', async () => {
    expect(await taken(2)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(inputs()).toHaveLength(1);
  });

  test('ends with the first page when nothing follows, also without items', async () => {
    client.reset();
    client.on(QueryCommand).resolves({});

    expect(await taken()).toEqual([]);
    expect(inputs()).toHaveLength(1);
  });
});

describe('deleting items', () => {
  const written = () => client.commandCalls(BatchWriteCommand).map(({ args }) => args[0].input.RequestItems);
  const deletions = (from: number, to: number) => ({
    table: keys(to)
      .slice(from)
      .map((Key) => ({ DeleteRequest: { Key } })),
  });

  test.each([
    [0, []],
    [1, [[0, 1]]],
    [25, [[0, 25]]],
    [
      60,
      [
        [0, 25],
        [25, 50],
        [50, 60],
      ],
    ],
  ])('of %p is done 25 at a time', async (count, ranges) => {
    client.on(BatchWriteCommand).resolves({});
    await deleteItems(keys(count));

    expect(written()).toEqual(ranges.map(([from = 0, to = 0]) => deletions(from, to)));
  });

  test('asks again for those that were left, and only for those', async () => {
    const left = deletions(1, 3);
    client.on(BatchWriteCommand).resolvesOnce({ UnprocessedItems: left }).resolvesOnce({});

    await deleteItems(keys(3));

    expect(written()).toEqual([deletions(0, 3), left]);
  });

  test('asks the caller to come back when some are left sixty times', async () => {
    client.on(BatchWriteCommand).resolves({ UnprocessedItems: deletions(0, 1) });

    await expect(deleteItems(keys(1))).rejects.toThrow(RateLimitedError);
    expect(written()).toHaveLength(60);
  });
});
