import { describe, expect, test } from '@jest/globals';
import { Random } from '../engine/random.ts';
import { Scheduler } from '../engine/scheduler.ts';
import { Table, TRANSACTION_MS, type Write } from './table.ts';

const aTable = () => {
  const scheduler = new Scheduler(0);
  return { scheduler, table: new Table(scheduler, new Random(1)) };
};

const add = (PK: string, amount: number): Write => ({
  kind: 'Update',
  Key: { PK, SK: 'A' },
  UpdateExpression: 'ADD amount :amount',
  ExpressionAttributeValues: { ':amount': amount },
});

const onlyNew = (PK: string): Write => ({
  kind: 'Put',
  Item: { PK, SK: 'A', amount: 1 },
  ConditionExpression: 'attribute_not_exists(PK)',
});

describe('a table that conflicts as DynamoDB does', () => {
  test('refuses a write to an item that a transaction holds, and takes it once that is committed', async () => {
    const { scheduler, table } = aTable();
    const committed = table.transact([add('1', 5), add('2', 5)], {});

    expect(() => table.write(add('2', 1))).toThrow(
      expect.objectContaining({ name: 'TransactionConflictException' }),
    );
    expect(table.get({ PK: '2', SK: 'A' })).toBeUndefined();
    await scheduler.advance(TRANSACTION_MS);
    await committed;
    table.write(add('2', 1));

    expect(table.get({ PK: '2', SK: 'A' })).toMatchObject({ amount: 6 });
  });

  test('says of each item of a transaction whether it conflicts, is refused by its condition, or neither', async () => {
    const { scheduler, table } = aTable();
    table.write(onlyNew('known'));
    const held = table.transact([add('held', 5)], {});

    const refused = table.transact([add('held', 1), onlyNew('known'), add('free', 1)], {});

    await expect(refused).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [
        { Code: 'TransactionConflict' },
        { Code: 'ConditionalCheckFailed' },
        { Code: 'None' },
      ],
    });
    await scheduler.advance(TRANSACTION_MS);
    await held;
    expect(table.get({ PK: 'free', SK: 'A' })).toBeUndefined();
  });

  test('does a transaction once that is sent again under its token', async () => {
    const { scheduler, table } = aTable();
    const token = {};
    const first = table.transact([add('1', 5)], token);

    await expect(table.transact([add('1', 5)], token)).rejects.toMatchObject({
      name: 'TransactionInProgressException',
    });
    await scheduler.advance(TRANSACTION_MS);
    await first;
    await table.transact([add('1', 5)], token);

    expect(table.get({ PK: '1', SK: 'A' })).toMatchObject({ amount: 5 });
  });

  test('shows a write in an index later than in the table', async () => {
    const { scheduler, table } = aTable();
    table.write({ kind: 'Put', Item: { PK: '1', SK: 'A', GSI2PK: 'all' } });
    const query = {
      TableName: 'table',
      IndexName: 'GSI2',
      KeyConditionExpression: 'GSI2PK = :all',
      ExpressionAttributeValues: { ':all': 'all' },
    };

    expect(table.query(query).Items).toEqual([]);
    await scheduler.advance(1_000);

    expect(table.query(query).Items).toMatchObject([{ PK: '1' }]);
  });

  test('sweeps what is past its time and nothing else', () => {
    const { scheduler, table } = aTable();
    table.write({ kind: 'Put', Item: { PK: 'past', SK: 'A', ttl: 10 } });
    table.write({ kind: 'Put', Item: { PK: 'future', SK: 'A', ttl: 30 } });
    scheduler.now = 20_000;

    expect(table.sweep()).toBe(1);
    expect([...table.items.keys()]).toEqual(['future|A']);
  });
});
