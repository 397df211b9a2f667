import '../builders/environment.ts';
import { BatchGetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import {
  batchGet,
  type Refusal,
  refusedBy,
  type TransactItem,
  table,
  transact,
} from '../../../core/table.ts';
import { cancelled, tableError } from '../builders/table-errors.ts';

const client = mockClient(table);
const random = jest.spyOn(Math, 'random');
beforeEach(() => {
  client.reset();
  random.mockReturnValue(0);
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const anItem = (PK: string): TransactItem => ({ Put: { TableName: 'table', Item: { PK } } });
const transactions = () => client.commandCalls(TransactWriteCommand).map(({ args }) => args[0].input);

/** Runs until nothing waits any longer. */
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

describe('a transaction', () => {
  test('writes what the plan gives, once', async () => {
    client.on(TransactWriteCommand).resolves({});
    const plan = jest.fn((_: readonly Refusal[]) => [anItem('A'), anItem('B')]);

    await settle(transact(plan));

    expect(transactions()).toEqual([{ TransactItems: [anItem('A'), anItem('B')] }]);
    expect(plan.mock.calls).toEqual([[[]]]);
  });

  test('ends without a write when the plan gives nothing', async () => {
    await settle(transact(() => []));

    expect(transactions()).toEqual([]);
  });

  test('ends when the plan throws, and tells of that', async () => {
    await expect(
      settle(
        transact(() => {
          throw new Error('not allowed');
        }),
      ),
    ).rejects.toThrow('not allowed');
    expect(transactions()).toEqual([]);
  });

  test('goes back to the plan at once when a condition refused it, with the items that were found', async () => {
    const found = { PK: 'A', balance: 5 };
    client
      .on(TransactWriteCommand)
      .rejectsOnce(
        cancelled({ code: 'ConditionalCheckFailed', item: found }, 'None', 'ConditionalCheckFailed'),
      )
      .resolves({});
    const plan = jest.fn((_: readonly Refusal[]) => [anItem('A')]);
    const run = transact(plan);

    await jest.advanceTimersByTimeAsync(0);
    await run;

    const refusals = plan.mock.calls[1]?.[0] ?? [];
    expect(refusals).toEqual([
      { code: 'ConditionalCheckFailed', item: found },
      { code: 'None', item: undefined },
      { code: 'ConditionalCheckFailed', item: undefined },
    ]);
    expect([0, 1, 2, 3].map((index) => refusedBy(refusals, index))).toEqual([true, false, true, false]);
  });

  test.each([
    ['a conflict with another transaction', cancelled('None', 'TransactionConflict')],
    ['throttling', cancelled('ThrottlingError')],
    ['exhausted throughput', cancelled('ProvisionedThroughputExceeded', 'None')],
    ['a conflict reported as a whole', tableError('TransactionConflictException')],
    ['a try of itself still in progress', tableError('TransactionInProgressException')],
  ])('waits and repeats the plan after %s', async (_, error) => {
    random.mockReturnValue(1);
    client.on(TransactWriteCommand).rejectsOnce(error).resolves({});
    const plan = jest.fn((_refusals: readonly Refusal[]) => [anItem('A')]);
    const run = transact(plan);

    await jest.advanceTimersByTimeAsync(24);
    expect(transactions()).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    await run;

    expect(transactions()).toEqual([{ TransactItems: [anItem('A')] }, { TransactItems: [anItem('A')] }]);
    expect(refusedBy(plan.mock.calls[1]?.[0] ?? [], 0)).toBe(false);
  });

  test.each([
    ['conflicts', 1, [25, 50, 100, 200, 250, 250]],
    ['conflicts', 0.5, [12.5, 25, 50, 100, 125, 125]],
    ['conflicts', 0, [0, 0, 0, 0, 0, 0]],
    // The first three times, what was read was merely old.
    ['refusals', 1, [200, 250, 250]],
  ])(
    'waits between %s at random, at most twice as long each time, never over 250 ms: %p',
    async (what, chance, waits) => {
      client
        .on(TransactWriteCommand)
        .rejects(cancelled(what === 'conflicts' ? 'TransactionConflict' : 'ConditionalCheckFailed'));
      const timer = jest.spyOn(globalThis, 'setTimeout');
      random.mockReturnValue(chance);
      let tries = 0;

      await settle(transact(() => (tries++ < 6 ? [anItem('A')] : [])));

      expect(timer.mock.calls.map(([, milliseconds]) => milliseconds)).toEqual(waits);
    },
  );

  test.each([
    ['a mistake of ours', cancelled('ValidationError')],
    ['a mistake of ours beside a refusal', cancelled('ConditionalCheckFailed', 'ValidationError')],
    ['an item that grew too large', cancelled('ItemCollectionSizeLimitExceeded', 'TransactionConflict')],
    ['missing rights', tableError('AccessDeniedException')],
    ['a lost connection', tableError('TimeoutError')],
  ])('is not repeated after %s', async (_, error) => {
    client.on(TransactWriteCommand).rejects(error);

    await expect(settle(transact(() => [anItem('A')]))).rejects.toBe(error);
    expect(transactions()).toHaveLength(1);
  });

  test.each([
    ['conflicts', cancelled('TransactionConflict')],
    ['refusals', cancelled('ConditionalCheckFailed')],
  ])('asks the caller to come back in 1 s after thirty %s', async (_, error) => {
    client.on(TransactWriteCommand).rejects(error);

    await expect(settle(transact(() => [anItem('A')]))).rejects.toMatchObject({
      name: 'RateLimitedError',
      code: 'rate_limited',
      retryAfterSeconds: 1,
      cause: error,
    });
    expect(transactions()).toHaveLength(30);
  });
});

describe('reading many items', () => {
  const keys = ['A', 'B', 'C'].map((PK) => ({ PK, SK: 'x' }));
  const item = (PK: string) => ({ PK, SK: 'x', name: `the ${PK}` });
  const reads = () => client.commandCalls(BatchGetCommand).map(({ args }) => args[0].input.RequestItems);

  test('is one consistent read, answered in the order of the keys', async () => {
    client.on(BatchGetCommand).resolves({ Responses: { table: [item('C'), item('A'), item('B')] } });

    const timer = jest.spyOn(globalThis, 'setTimeout');

    expect(await batchGet(keys)).toEqual([item('A'), item('B'), item('C')]);
    expect(reads()).toEqual([{ table: { Keys: keys, ConsistentRead: true } }]);
    expect(timer).not.toHaveBeenCalled();
  });

  test('leaves a gap for what is not there', async () => {
    client.on(BatchGetCommand).resolves({ Responses: { table: [item('C')] } });

    expect(await settle(batchGet(keys))).toEqual([undefined, undefined, item('C')]);
  });

  test('of nothing makes no call', async () => {
    expect(await settle(batchGet([]))).toEqual([]);
    expect(reads()).toEqual([]);
  });

  test('waits and asks again for the keys that were left, and only for those', async () => {
    random.mockReturnValue(1);
    const left = keys.slice(2);
    client
      .on(BatchGetCommand)
      .resolvesOnce({
        Responses: { table: [item('B'), item('A')] },
        UnprocessedKeys: { table: { Keys: left } },
      })
      .resolvesOnce({ Responses: { table: [item('C')] } });
    const run = batchGet(keys);

    await jest.advanceTimersByTimeAsync(49);
    expect(reads()).toEqual([{ table: { Keys: keys, ConsistentRead: true } }]);
    await jest.advanceTimersByTimeAsync(1);

    expect(await run).toEqual([item('A'), item('B'), item('C')]);
    expect(reads()).toEqual([
      { table: { Keys: keys, ConsistentRead: true } },
      { table: { Keys: left, ConsistentRead: true } },
    ]);
  });

  test('asks the caller to come back when keys are left thirty times', async () => {
    client.on(BatchGetCommand).resolves({ UnprocessedKeys: { table: { Keys: keys } } });

    await expect(settle(batchGet(keys))).rejects.toMatchObject({
      name: 'RateLimitedError',
      retryAfterSeconds: 1,
    });
    expect(reads()).toHaveLength(30);
  });
});
