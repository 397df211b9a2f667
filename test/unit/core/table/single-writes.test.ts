import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { table } from '../../../../core/table/table.ts';
import {
  type TransactItem,
  writeBeside,
  writeItem,
  writeOnCondition,
  writeUnlessRefused,
} from '../../../../core/table/transactions.ts';
import { settle } from '../../builders/stop-time.ts';
import { tableError } from '../../builders/table-errors.ts';

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

describe('writing one item that transactions write too', () => {
  const command = () => new UpdateCommand({ TableName: 'table', Key: { PK: 'A', SK: 'x' } });
  const writes = () => client.commandCalls(UpdateCommand);

  test.each(['TransactionConflictException', 'TransactionInProgressException'])(
    'waits for a transaction in progress and writes again: %s',
    async (name) => {
      random.mockReturnValue(1);
      client.on(UpdateCommand).rejectsOnce(tableError(name)).rejectsOnce(tableError(name)).resolves({});
      const run = writeItem(command());

      await jest.advanceTimersByTimeAsync(47);
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

  test('answers 429 with a retry in 1 s after 240 conflicts', async () => {
    const error = tableError('TransactionConflictException');
    client.on(UpdateCommand).rejects(error);

    await expect(settle(writeItem(command()))).rejects.toMatchObject({
      name: 'RateLimitedError',
      retryAfterSeconds: 1,
      cause: error,
    });
    expect(writes()).toHaveLength(240);
  });
});

describe('a write under a condition', () => {
  const command = () => new UpdateCommand({ TableName: 'table', Key: { PK: 'A', SK: 'x' } });
  const refusal = (Item?: { n: { N: string } }) =>
    new ConditionalCheckFailedException({ message: 'refused', $metadata: {}, ...(Item && { Item }) });

  test('that is made returns the attributes that it asked for', async () => {
    client
      .on(UpdateCommand)
      .resolvesOnce({ Attributes: { n: 1 } })
      .resolves({});

    expect(await writeOnCondition(command())).toEqual({ done: true, item: { n: 1 } });
    expect(await writeOnCondition(command())).toEqual({ done: true, item: {} });
    expect(await writeUnlessRefused(command())).toBe(true);
  });

  test('that is refused returns the stored item, if it asked for it', async () => {
    client
      .on(UpdateCommand)
      .rejectsOnce(refusal({ n: { N: '1' } }))
      .rejects(refusal());

    expect(await writeOnCondition(command())).toEqual({ done: false, item: { n: 1 } });
    expect(await writeOnCondition(command())).toEqual({ done: false, item: undefined });
    expect(await writeUnlessRefused(command())).toBe(false);
  });

  test('throws any other error', async () => {
    const error = tableError('ThrottlingException');
    client.on(UpdateCommand).rejects(error);

    await expect(writeOnCondition(command())).rejects.toBe(error);
    await expect(writeUnlessRefused(command())).rejects.toBe(error);
  });
});

describe('a write beside others', () => {
  const KEY = { PK: 'A', SK: 'x' };
  const asked = { TableName: 'table', ConditionExpression: 'n = m' };

  test.each([
    [
      'an item',
      new PutCommand({ ...asked, Item: { ...KEY, n: 1 }, ReturnValues: 'ALL_OLD' }),
      { Put: { ...asked, Item: { ...KEY, n: 1 } } },
    ],
    [
      'an update',
      new UpdateCommand({ ...asked, Key: KEY, UpdateExpression: 'SET n = m', ReturnValues: 'ALL_NEW' }),
      { Update: { ...asked, Key: KEY, UpdateExpression: 'SET n = m' } },
    ],
  ])('is one transaction with them, and returns what is stored then: %s', async (_, command, written) => {
    client.on(TransactWriteCommand).resolves({});
    client
      .on(GetCommand, { TableName: 'table', Key: KEY, ConsistentRead: true })
      .resolves({ Item: { n: 1 } });

    expect(await writeBeside(command, [anItem('B')])).toEqual({ done: true, item: { n: 1 } });
    expect(transactions()).toEqual([expect.objectContaining({ TransactItems: [written, anItem('B')] })]);
  });
});
