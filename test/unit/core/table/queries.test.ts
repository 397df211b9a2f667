import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import fc from 'fast-check';
import { type Part, queryAll, queryFrom, type StoredItem, table } from '../../../../core/table/table.ts';

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

describe('reading a part of a query', () => {
  const query = { TableName: 'table', KeyConditionExpression: 'PK = :one' };
  /** Numbers of the items that the filter passes. */
  const passing = (filter: readonly boolean[]): number[] =>
    filter.flatMap((passes, n) => (passes ? [n] : []));
  const every = (count: number, nth = 1): boolean[] => Array.from({ length: count }, (_, n) => n % nth === 0);

  /** Answers queries of items, of which the filter passes these, by at most `perAnswer` at a time. */
  const given = (filter: readonly boolean[], perAnswer = 7_500): void => {
    client.on(QueryCommand).callsFake(({ Limit, ExclusiveStartKey, Select }) => {
      const from = ExclusiveStartKey ? ExclusiveStartKey.n + 1 : 0;
      const most = Math.min(perAnswer, Limit);
      const scanned = filter.slice(from, from + most);
      const Items = passing(scanned).map((n) => ({ n: n + from }));
      return {
        ...(Select !== 'COUNT' && { Items }),
        Count: Items.length,
        ScannedCount: scanned.length,
        ...(scanned.length === most && { LastEvaluatedKey: { n: from + most - 1 } }),
      };
    });
  };
  const read = async (skip: number, wanted = 21, isSparse = false): Promise<number[]> => {
    const part: Part = { skip, wanted, isSparse };
    const read: number[] = [];
    for await (const { n } of queryFrom(query, part)) {
      read.push(Number(n));
      if (read.length === wanted) break;
    }
    return read;
  };
  /** What each call counts or reads at most. */
  const calls = (): string[] =>
    client
      .commandCalls(QueryCommand)
      .map(({ args: [{ input }] }) => `${input.Select === 'COUNT' ? 'count' : 'read'} ${input.Limit}`);

  test('holds the items that pass the filter, wherever it begins', async () => {
    const aFilter = fc
      .tuple(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 10 }), fc.nat())
      .map(([count, tenths, seed]) =>
        // The share that passes differs from one part of the list to another.
        Array.from({ length: count }, (_, n) => ((n * 7_919 + seed) % 10) + (n > 1_500 ? 5 : 0) < tenths),
      );
    await fc.assert(
      fc.asyncProperty(
        aFilter,
        fc.integer({ min: 0, max: 3_000 }),
        fc.constantFrom(37, 500, 7_500),
        fc.boolean(),
        async (filter, skip, perAnswer, isSparse) => {
          client.reset();
          given(filter, perAnswer);

          expect(await read(skip, 21, isSparse)).toEqual(passing(filter).slice(skip, skip + 21));
        },
      ),
      { numRuns: 300 },
    );
  });

  const all = every(10_000);
  const fromHalf = [...Array(5_000).fill(false), ...all];
  test.each<[string, number, boolean[], boolean, string]>([
    ['early items by one call', 380, all, false, 'read 401'],
    ['late ones by a count that transfers none of those before', 980, all, false, 'count 980, read 21'],
    ['still later ones by a count for each 1 MB', 9_980, all, false, 'count 9980, count 2480, read 21'],
    [
      'one in two by counts of what is left, which cannot go too far',
      1_960,
      every(10_000, 2),
      true,
      'count 1960, count 980, count 490, read 532',
    ],
    [
      'one in twenty by whole answers',
      980,
      every(30_000, 20),
      true,
      'count 980, count 100000, count 100000, read 4040',
    ],
    [
      'those that begin within a counted answer by reading it',
      980,
      fromHalf,
      true,
      'count 980, count 100000, read 2002, read 8008',
    ],
    ['none behind the end', 20_000, every(5_000), false, 'count 20000'],
  ])('reads %s', async (_, skip, filter, isSparse, expected) => {
    given(filter);

    expect(await read(skip, 21, isSparse)).toEqual(passing(filter).slice(skip, skip + 21));
    expect(calls().join(', ')).toBe(expected);
  });

  test('reads four times as much with each call when the filter drops items', async () => {
    given([...Array(9_000).fill(false), true]);

    expect(await read(0, 21, true)).toEqual([9_000]);
    expect(calls()).toEqual([400, 1_600, 6_400, 25_600].map((limit) => `read ${limit}`));
  });

  test('gives up after 500 calls', async () => {
    given(every(4_000), 7);

    expect(await read(3_000)).toHaveLength(21);
    await expect(read(3_600)).rejects.toThrow('more than 500 queries');
  });
});
