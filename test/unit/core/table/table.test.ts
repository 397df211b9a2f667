import '../../builders/environment.ts';
import { BatchGetCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { batchGet } from '../../../../core/table/batches.ts';
import { table } from '../../../../core/table/table.ts';
import {
  type Refusal,
  refusedBy,
  type TransactItem,
  transact,
  writeItem,
} from '../../../../core/table/transactions.ts';
import { cancelled, tableError } from '../../builders/table-errors.ts';

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
    ['a conflict with another transaction', cancelled('None', 'TransactionConflict'), 16],
    ['throttling', cancelled('ThrottlingError'), 25],
    ['exhausted throughput', cancelled('ProvisionedThroughputExceeded', 'None'), 25],
    ['a conflict reported as a whole', tableError('TransactionConflictException'), 16],
    ['a try of itself still in progress', tableError('TransactionInProgressException'), 16],
  ])('waits and repeats the plan after %s', async (_, error, milliseconds) => {
    random.mockReturnValue(1);
    client.on(TransactWriteCommand).rejectsOnce(error).resolves({});
    const plan = jest.fn((_refusals: readonly Refusal[]) => [anItem('A')]);
    const run = transact(plan);

    await jest.advanceTimersByTimeAsync(milliseconds - 1);
    expect(transactions()).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    await run;

    expect(transactions()).toEqual([{ TransactItems: [anItem('A')] }, { TransactItems: [anItem('A')] }]);
    expect(refusedBy(plan.mock.calls[1]?.[0] ?? [], 0)).toBe(false);
  });

  test.each([
    ['a busy table', 'ThrottlingError', 1, [25, 50, 100, 200, 250, 250]],
    ['a busy table', 'ThrottlingError', 0.5, [12.5, 25, 50, 100, 125, 125]],
    ['a busy table', 'ThrottlingError', 0, [0, 0, 0, 0, 0, 0]],
    // Whoever waits longer comes back with what is old again.
    ['busy items', 'TransactionConflict', 1, [16, 16, 16, 16, 16, 16]],
    ['busy items', 'TransactionConflict', 0.5, [8, 8, 8, 8, 8, 8]],
    // Somebody else got on, and what was read is new.
    ['refused conditions', 'ConditionalCheckFailed', 1, []],
  ])('waits after %s (%s) at random, with a chance of %p so long: %j', async (_, code, chance, waits) => {
    client.on(TransactWriteCommand).rejects(cancelled(code));
    const timer = jest.spyOn(globalThis, 'setTimeout');
    random.mockReturnValue(chance);
    let tries = 0;

    await settle(transact(() => (tries++ < 6 ? [anItem('A')] : [])));

    expect(timer.mock.calls.map(([, milliseconds]) => milliseconds)).toEqual(waits);
  });

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
  ])('asks the caller to come back in 1 s after sixty %s', async (_, error) => {
    client.on(TransactWriteCommand).rejects(error);

    await expect(settle(transact(() => [anItem('A')]))).rejects.toMatchObject({
      name: 'RateLimitedError',
      code: 'rate_limited',
      retryAfterSeconds: 1,
      cause: error,
    });
    expect(transactions()).toHaveLength(60);
  });
});

describe('writing one item that transactions write too', () => {
  const command = () => new UpdateCommand({ TableName: 'table', Key: { PK: 'A', SK: 'x' } });
  const writes = () => client.commandCalls(UpdateCommand);

  test('gives what the write gives', async () => {
    client.on(UpdateCommand).resolves({ Attributes: { name: 'the A' } });

    expect(await settle(writeItem(command()))).toEqual({ Attributes: { name: 'the A' } });
    expect(writes()).toHaveLength(1);
  });

  test.each(['TransactionConflictException', 'TransactionInProgressException'])(
    'waits for a transaction that is under way, and writes again: %s',
    async (name) => {
      random.mockReturnValue(1);
      client.on(UpdateCommand).rejectsOnce(tableError(name)).rejectsOnce(tableError(name)).resolves({});
      const run = writeItem(command());

      await jest.advanceTimersByTimeAsync(31);
      expect(writes()).toHaveLength(2);
      await jest.advanceTimersByTimeAsync(1);

      expect(await run).toEqual({});
      expect(writes()).toHaveLength(3);
    },
  );

  test.each(['ConditionalCheckFailedException', 'ThrottlingException', 'AccessDeniedException'])(
    'is not repeated after %s',
    async (name) => {
      const error = tableError(name);
      client.on(UpdateCommand).rejects(error);

      await expect(settle(writeItem(command()))).rejects.toBe(error);
      expect(writes()).toHaveLength(1);
    },
  );

  test('asks the caller to come back in 1 s after sixty conflicts', async () => {
    const error = tableError('TransactionConflictException');
    client.on(UpdateCommand).rejects(error);

    await expect(settle(writeItem(command()))).rejects.toMatchObject({
      name: 'RateLimitedError',
      retryAfterSeconds: 1,
      cause: error,
    });
    expect(writes()).toHaveLength(60);
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

  test('asks the caller to come back when keys are left sixty times', async () => {
    client.on(BatchGetCommand).resolves({ UnprocessedKeys: { table: { Keys: keys } } });

    await expect(settle(batchGet(keys))).rejects.toMatchObject({
      name: 'RateLimitedError',
      retryAfterSeconds: 1,
    });
    expect(reads()).toHaveLength(60);
  });
});
