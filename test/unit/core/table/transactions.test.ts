import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { CALLER_PATIENCE, SETTLEMENT_PATIENCE } from '../../../../core/table/retries.ts';
import { table } from '../../../../core/table/table.ts';
import {
  type NamedRefusals,
  type Refusal,
  refusedBy,
  type TransactItem,
  transact,
  transactNamed,
} from '../../../../core/table/transactions.ts';
import { settle } from '../../builders/stop-time.ts';
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

  test('ends when the plan throws, and rethrows', async () => {
    await expect(
      settle(
        transact(() => {
          throw new Error('not allowed');
        }),
      ),
    ).rejects.toThrow('not allowed');
    expect(transactions()).toEqual([]);
  });

  test('calls the plan again at once when a condition refused it, with the items found', async () => {
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

  test('finds the refusals under the names of the last attempt, whatever the next plan writes', async () => {
    const found = { PK: 'C', balance: 5 };
    client
      .on(TransactWriteCommand)
      .rejectsOnce(
        cancelled('None', 'ConditionalCheckFailed', { code: 'ConditionalCheckFailed', item: found }),
      )
      .rejectsOnce(cancelled('ConditionalCheckFailed'))
      .rejectsOnce(tableError('TransactionConflictException'))
      .resolves({});
    const refused: NamedRefusals<'some' | 'one'>[] = [];
    const plans = [
      { some: [anItem('A'), anItem('B')], one: [anItem('C')] },
      { some: [], one: [anItem('D')] },
    ];

    await settle(
      transactNamed<'some' | 'one'>(async (refusals) => {
        refused.push(refusals);
        return plans[refused.length - 1] ?? plans[1];
      }),
    );

    const [none, condition] = ['None', 'ConditionalCheckFailed'].map((code) => ({ code, item: undefined }));
    expect(refused).toEqual([
      {},
      { some: [none, condition], one: [{ code: 'ConditionalCheckFailed', item: found }] },
      { some: [], one: [condition] },
      { some: [], one: [] },
    ]);
    expect(transactions()[0]).toEqual({ TransactItems: [anItem('A'), anItem('B'), anItem('C')] });
  });

  test('ends without a write when a plan of named writes gives none', async () => {
    await settle(transactNamed(async () => undefined));

    expect(transactions()).toEqual([]);
  });

  test.each([
    ['a conflict with another transaction', cancelled('None', 'TransactionConflict'), 24],
    ['throttling', cancelled('ThrottlingError'), 25],
    ['exhausted throughput', cancelled('ProvisionedThroughputExceeded', 'None'), 25],
    ['a conflict reported as a whole', tableError('TransactionConflictException'), 24],
    ['an earlier attempt of itself in progress', tableError('TransactionInProgressException'), 24],
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
    ['busy items', 'TransactionConflict', 1, [24, 24, 24, 24, 24, 24]],
    ['busy items', 'TransactionConflict', 0.5, [12, 12, 12, 12, 12, 12]],
    // Another write went through, and the item it returned is fresh.
    ['refused conditions', 'ConditionalCheckFailed', 1, []],
  ])('waits after %s (%s), with a random factor of %p: %j ms', async (_, code, chance, waits) => {
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
  ])('answers 429 with a retry in 1 s after 240 %s', async (_, error) => {
    client.on(TransactWriteCommand).rejects(error);

    await expect(settle(transact(() => [anItem('A')]))).rejects.toMatchObject({
      name: 'RateLimitedError',
      code: 'rate_limited',
      retryAfterSeconds: 1,
      cause: error,
    });
    expect(transactions()).toHaveLength(240);
  });
});

describe('patience', () => {
  test.each([
    ['a caller’s, of 5 s', CALLER_PATIENCE, 1, [24, 24, 24], 209],
    ['a settlement’s, of 25 s', SETTLEMENT_PATIENCE, 1, [500, 3_900, 3_120], 45],
  ])('%s ends a transaction that keeps losing, with 429', async (_, patience, chance, first, attempts) => {
    const error = cancelled('TransactionConflict');
    client.on(TransactWriteCommand).rejects(error);
    random.mockReturnValue(chance);
    const timer = jest.spyOn(globalThis, 'setTimeout');

    await expect(settle(transact(() => [anItem('A')], patience))).rejects.toMatchObject({
      name: 'RateLimitedError',
      cause: error,
    });

    expect(timer.mock.calls.slice(0, first.length).map(([, milliseconds]) => milliseconds)).toEqual(first);
    expect(transactions()).toHaveLength(attempts);
  });

  test('of a settlement leaves room for creations at first, and hardly any once it is old', () => {
    const waits = [0, 5_000, 10_000, 19_000, 20_000, 24_000].map((elapsedMs) =>
      SETTLEMENT_PATIENCE.longestWaitMs(5, elapsedMs),
    );

    expect(waits.map(Math.round)).toEqual([4_000, 3_000, 2_000, 200, 200, 200]);
  });
});
