import { BatchGetCommand, BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
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
const BUSY = { name: 'RateLimitedError', retryAfterSeconds: 1 };

describe('reading many items', () => {
  const reads = () =>
    client.commandCalls(BatchGetCommand).map(({ args }) => args[0].input.RequestItems?.table);
  const readOf = (Keys: ItemKey[]) => ({ Keys, ConsistentRead: true });

  test('waits and repeats only the unprocessed keys', async () => {
    jest.useFakeTimers();
    random.mockReturnValue(1);
    const [first, second, third] = keys(3) as [ItemKey, ItemKey, ItemKey];
    client
      .on(BatchGetCommand)
      .resolvesOnce({
        Responses: { table: [{ ...second, n: 2 }, first] },
        UnprocessedKeys: { table: { Keys: [third] } },
      })
      .resolvesOnce({ Responses: { table: [third] } });
    const run = batchGet(keys(3));

    await jest.advanceTimersByTimeAsync(49);
    expect(reads()).toEqual([readOf(keys(3))]);
    await jest.advanceTimersByTimeAsync(1);

    expect(await run).toEqual([first, { ...second, n: 2 }, third]);
    expect(reads()).toEqual([readOf(keys(3)), readOf([third])]);
    jest.useRealTimers();
  });

  test('answers 429 when keys stay unprocessed sixty times', async () => {
    client.on(BatchGetCommand).resolves({ UnprocessedKeys: { table: { Keys: keys(3) } } });

    await expect(batchGet(keys(3))).rejects.toMatchObject(BUSY);
    expect(reads()).toHaveLength(60);
  });

  test.each([
    [0, []],
    [1, [1]],
    [100, [100]],
    [101, [100, 1]],
    [250, [100, 100, 50]],
  ])(
    'of %p takes calls of %p keys, keeps their order, gaps included, and never waits',
    async (count, sizes) => {
      client.on(BatchGetCommand).callsFake(async ({ RequestItems }) => ({
        Responses: { table: RequestItems.table.Keys.filter(({ PK }: ItemKey) => PK !== 'item 1').reverse() },
      }));
      const timer = jest.spyOn(globalThis, 'setTimeout');

      const items = await batchGet(keys(count));

      expect(items).toEqual(keys(count).map((key) => (key.PK === 'item 1' ? undefined : key)));
      expect(reads().map((read) => read?.Keys?.length)).toEqual(sizes);
      expect(timer).not.toHaveBeenCalled();
      timer.mockRestore();
    },
  );

  test('for some attributes asks for these and the keys, by names that may be reserved words', async () => {
    const queued = { ...keys(1)[0], status: 'queued' };
    client.on(BatchGetCommand).resolves({ Responses: { table: [queued] } });

    expect(await batchGet(keys(1), ['status'])).toEqual([queued]);
    expect(reads()).toMatchObject([
      {
        ProjectionExpression: '#PK,#SK,#status',
        ExpressionAttributeNames: { '#PK': 'PK', '#SK': 'SK', '#status': 'status' },
      },
    ]);
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
    [1, [1]],
    [25, [25]],
    [60, [25, 50, 60]],
  ])('of %p is done 25 at a time', async (count, ends) => {
    client.on(BatchWriteCommand).resolves({});
    await deleteItems(keys(count));

    expect(written()).toEqual(ends.map((end, index) => deletions(index * 25, end)));
  });

  test('repeats only the unprocessed items', async () => {
    const left = deletions(1, 3);
    client.on(BatchWriteCommand).resolvesOnce({ UnprocessedItems: left }).resolvesOnce({});

    await deleteItems(keys(3));

    expect(written()).toEqual([deletions(0, 3), left]);
  });

  test('answers 429 when items stay unprocessed sixty times', async () => {
    client.on(BatchWriteCommand).resolves({ UnprocessedItems: deletions(0, 1) });

    await expect(deleteItems(keys(1))).rejects.toMatchObject(BUSY);
    expect(written()).toHaveLength(60);
  });
});
