import '../../builders/environment.ts';
import { BatchGetCommand, BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { RateLimitedError } from '../../../../core/errors.ts';
import type { ItemKey } from '../../../../core/table/keys.ts';
import { batchGet, deleteItems, table } from '../../../../core/table/table.ts';

const client = mockClient(table);
const random = jest.spyOn(Math, 'random');
beforeEach(() => {
  client.reset();
  random.mockReturnValue(0);
});

const keys = (count: number): ItemKey[] =>
  Array.from({ length: count }, (_, index) => ({ PK: `item ${index}`, SK: 'x' }));

/** Runs all timers until the promise settles. */
const settle = async <T>(run: Promise<T>): Promise<T> => {
  const result = run.then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error;
    },
  );
  await jest.runAllTimersAsync();
  return (await result)();
};

describe('reading many items', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });
  const three = ['A', 'B', 'C'].map((PK) => ({ PK, SK: 'x' }));
  const item = (PK: string) => ({ PK, SK: 'x', name: `the ${PK}` });
  const reads = () => client.commandCalls(BatchGetCommand).map(({ args }) => args[0].input.RequestItems);

  test('is one consistent read, answered in the order of the keys', async () => {
    client.on(BatchGetCommand).resolves({ Responses: { table: [item('C'), item('A'), item('B')] } });

    const timer = jest.spyOn(globalThis, 'setTimeout');

    expect(await batchGet(three)).toEqual([item('A'), item('B'), item('C')]);
    expect(reads()).toEqual([{ table: { Keys: three, ConsistentRead: true } }]);
    expect(timer).not.toHaveBeenCalled();
  });

  test('waits and repeats only the unprocessed keys', async () => {
    random.mockReturnValue(1);
    const left = three.slice(2);
    client
      .on(BatchGetCommand)
      .resolvesOnce({
        Responses: { table: [item('B'), item('A')] },
        UnprocessedKeys: { table: { Keys: left } },
      })
      .resolvesOnce({ Responses: { table: [item('C')] } });
    const run = batchGet(three);

    await jest.advanceTimersByTimeAsync(49);
    expect(reads()).toEqual([{ table: { Keys: three, ConsistentRead: true } }]);
    await jest.advanceTimersByTimeAsync(1);

    expect(await run).toEqual([item('A'), item('B'), item('C')]);
    expect(reads()).toEqual([
      { table: { Keys: three, ConsistentRead: true } },
      { table: { Keys: left, ConsistentRead: true } },
    ]);
  });

  test('answers 429 when keys stay unprocessed sixty times', async () => {
    client.on(BatchGetCommand).resolves({ UnprocessedKeys: { table: { Keys: three } } });

    await expect(settle(batchGet(three))).rejects.toMatchObject({
      name: 'RateLimitedError',
      retryAfterSeconds: 1,
    });
    expect(reads()).toHaveLength(60);
  });
});

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

    const items = await batchGet(keys(count));

    expect(items).toEqual(keys(count).map((key) => (key.PK === 'item 1' ? undefined : key)));
    expect(sizes()).toEqual(expected);
  });
});

describe('reading attributes of items', () => {
  test('asks for these and the keys, by names that may be reserved words', async () => {
    const [key] = keys(1);
    const queued = { ...key, status: 'queued' };
    client.on(BatchGetCommand).resolves({ Responses: { table: [queued] } });

    expect(await batchGet(keys(1), ['status'])).toEqual([queued]);
    expect(client.commandCalls(BatchGetCommand)[0]?.args[0].input.RequestItems?.table).toMatchObject({
      ProjectionExpression: '#PK,#SK,#status',
      ExpressionAttributeNames: { '#PK': 'PK', '#SK': 'SK', '#status': 'status' },
    });
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

  test('repeats only the unprocessed items', async () => {
    const left = deletions(1, 3);
    client.on(BatchWriteCommand).resolvesOnce({ UnprocessedItems: left }).resolvesOnce({});

    await deleteItems(keys(3));

    expect(written()).toEqual([deletions(0, 3), left]);
  });

  test('answers 429 when items stay unprocessed sixty times', async () => {
    client.on(BatchWriteCommand).resolves({ UnprocessedItems: deletions(0, 1) });

    await expect(deleteItems(keys(1))).rejects.toThrow(RateLimitedError);
    expect(written()).toHaveLength(60);
  });
});
