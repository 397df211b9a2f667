import '../../builders/environment.ts';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { queryAll } from '../../../../core/table/queries.ts';
import { type StoredItem, table } from '../../../../core/table/table.ts';

const client = mockClient(table);
beforeEach(() => {
  client.reset();
});

describe('reading every item of a query', () => {
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

  test('continues to the end, past empty pages, and limits only the first call', async () => {
    expect(await taken(undefined, 2)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(inputs()).toEqual([
      { ...query, Limit: 2, ExclusiveStartKey: undefined },
      { ...query, Limit: undefined, ExclusiveStartKey: place },
      { ...query, Limit: undefined, ExclusiveStartKey: { ...place, SK: 'y' } },
    ]);
  });

  test('sets no limit when no number is expected', async () => {
    await taken();

    expect(inputs().map(({ Limit }) => Limit)).toEqual([undefined, undefined, undefined]);
  });

  test('makes no call for items that are not consumed', async () => {
    expect(await taken(2)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(inputs()).toHaveLength(1);
  });

  test('ends with the first page when there is no next one, even without items', async () => {
    client.reset();
    client.on(QueryCommand).resolves({});

    expect(await taken()).toEqual([]);
    expect(inputs()).toHaveLength(1);
  });
});
