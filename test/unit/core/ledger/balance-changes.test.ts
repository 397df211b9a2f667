import { InternalServerError, ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  ConflictError,
  NotFoundError,
  OutcomeUnknownError,
  RateLimitedError,
} from '../../../../core/errors.ts';
import { changeBalance } from '../../../../core/ledger/change-balance.ts';
import { balanceChangeWrites } from '../../../../core/ledger/ledger.ts';
import { MAX_THOUSANDTHS } from '../../../../core/money.ts';
import { accountKey, ledgerEntryKey } from '../../../../core/table/keys.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount } from '../../builders/entities.ts';
import { tableError } from '../../builders/table-errors.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { account, aTopUp, entries } from './a-balance.ts';

describe('a change of a balance', () => {
  test.each([
    [500, 'credit', 100_500],
    [1, 'credit', 100_001],
    [-1, 'debit', 99_999],
  ])('of %p thousandths is written with its entry, a %s', async (amount, type, balanceThousandths) => {
    const entry = await changeBalance(ACCOUNT_ID, aTopUp(amount), NOW);

    const changed = { balanceThousandths, ledgerEntries: 4, balanceUpdatedAt: NOW.toISOString() };
    expect(account()).toMatchObject(changed);
    expect(entries()).toEqual([{ ...ledgerEntryKey(ACCOUNT_ID, 4), ...entry }]);
    const amountThousandths = Math.abs(amount);
    const balanceAfterThousandths = balanceThousandths;
    expect(entry).toMatchObject({ number: 4, type, amountThousandths, balanceAfterThousandths });
  });

  test('builds on the balance that the refusal returned when another change came first', async () => {
    memory.beforeTransaction = (attempt) => {
      if (attempt === 1)
        memory.patch(accountKey(ACCOUNT_ID), { balanceThousandths: 40_000, ledgerEntries: 9 });
    };

    const entry = await changeBalance(ACCOUNT_ID, aTopUp(-40_000), NOW);

    expect(entry).toMatchObject({ number: 10, type: 'debit', balanceAfterThousandths: 0 });
    expect(account()).toMatchObject({ balanceThousandths: 0, ledgerEntries: 10 });
    expect(memory.transactions).toHaveLength(2);
  });

  test.each([
    ['empty the balance', -100_000, -1, 'The balance is 100: it cannot go below 0.'],
    [
      'raise the balance to the limit',
      MAX_THOUSANDTHS - 100_000,
      1,
      'The balance is 100: an operator cannot raise it above 1000000000.',
    ],
  ])('may %s and not a thousandth more', async (_, amount, more, refused) => {
    const tooMuch = changeBalance(ACCOUNT_ID, aTopUp(amount + more), NOW);
    await expect(tooMuch).rejects.toThrow(new ConflictError(refused));
    expect(memory.transactions).toEqual([]);

    await changeBalance(ACCOUNT_ID, aTopUp(amount), NOW);
    expect(account()).toMatchObject({ balanceThousandths: 100_000 + amount });
  });

  test.each([
    ['below zero', { balanceThousandths: 10, ledgerEntries: 4 }, -11],
    [
      'above the limit, even behind an equal counter,',
      { balanceThousandths: MAX_THOUSANDTHS, ledgerEntries: 3 },
      1,
    ],
  ])('is refused %s by the balance that the write finds', async (_, found, amount) => {
    memory.beforeTransaction = () => memory.patch(accountKey(ACCOUNT_ID), found);

    await expect(changeBalance(ACCOUNT_ID, aTopUp(amount), NOW)).rejects.toThrow(ConflictError);
    expect(account()).toMatchObject(found);
    expect(entries()).toEqual([]);
  });

  test('may lower a balance that refunds have raised above the limit', async () => {
    memory.patch(accountKey(ACCOUNT_ID), { balanceThousandths: MAX_THOUSANDTHS + 5 });

    await changeBalance(ACCOUNT_ID, aTopUp(-1), NOW);
    expect(account()).toMatchObject({ balanceThousandths: MAX_THOUSANDTHS + 4 });
  });

  test('is applied once when the response of a committed attempt was lost', async () => {
    memory.afterTransaction = (attempt) => {
      if (attempt === 1) throw tableError('TransactionInProgressException');
    };

    const entry = await changeBalance(ACCOUNT_ID, aTopUp(500), NOW);

    expect(account()).toMatchObject({ balanceThousandths: 100_500, ledgerEntries: 4 });
    expect(entries()).toEqual([{ ...ledgerEntryKey(ACCOUNT_ID, 4), ...entry }]);
    expect(memory.calls()).toEqual({ GetCommand: 1, BatchGetCommand: 1, TransactWriteCommand: 1 });
  });

  const answered: [string, Error][] = [
    ['a time-out', tableError('TimeoutError')],
    ['a fault of the service', new InternalServerError({ message: 'broken', $metadata: {} })],
    ['a transaction that never finished', tableError('TransactionInProgressException')],
  ];

  test.each(answered)('is found in the ledger after %s, even when others followed it', async (_, lost) => {
    memory.afterTransaction = () => {
      const head = { ...anAccount(), balanceThousandths: 100_500, ledgerEntries: 4 };
      const next = balanceChangeWrites(head, aTopUp(7), NOW);
      memory.put(ledgerEntryKey(ACCOUNT_ID, 5), next.entry);
      memory.patch(accountKey(ACCOUNT_ID), { balanceThousandths: 100_507, ledgerEntries: 5 });
      throw lost;
    };

    const entry = await changeBalance(ACCOUNT_ID, aTopUp(500), NOW);

    expect(entry).toMatchObject({ number: 4, balanceAfterThousandths: 100_500 });
    expect(entries()[0]).toEqual({ ...ledgerEntryKey(ACCOUNT_ID, 4), ...entry });
    expect(memory.transactions).toHaveLength(1);
  });

  test.each(answered.slice(0, 2))(
    'says that its outcome is unknown when %s left no entry',
    async (_, lost) => {
      memory.beforeTransaction = () => {
        throw lost;
      };

      const change = changeBalance(ACCOUNT_ID, aTopUp(500), NOW);

      await expect(change).rejects.toThrow(OutcomeUnknownError);
      await expect(change).rejects.toThrow(/only if the account's history has no entry led_[0-9A-Z]{26}\.$/);
    },
  );

  test('says that its outcome is unknown when it cannot be looked up', async () => {
    memory.afterTransaction = () => {
      memory.client.on(BatchGetCommand).rejects(tableError('TimeoutError'));
      throw tableError('TimeoutError');
    };

    await expect(changeBalance(ACCOUNT_ID, aTopUp(500), NOW)).rejects.toThrow(OutcomeUnknownError);
  });

  test('is refused as the table refused it when that leaves nothing open', async () => {
    const refused = new ResourceNotFoundException({ message: 'no table', $metadata: {} });
    memory.client.on(TransactWriteCommand).rejects(refused);

    await expect(changeBalance(ACCOUNT_ID, aTopUp(500), NOW)).rejects.toThrow(refused);
  });

  test('is applied once when the first attempt commits after the second was sent', async () => {
    const late: TransactWriteCommandInput[] = [];
    memory.beforeTransaction = async (attempt) => {
      const input = memory.transactions.at(-1);
      if (attempt === 1 && input) {
        late.push(input);
        throw tableError('TransactionInProgressException');
      }
      if (attempt === 2) {
        const [update, put] = late[0]?.TransactItems ?? [];
        memory.patch(accountKey(ACCOUNT_ID), { balanceThousandths: 100_500, ledgerEntries: 4 });
        expect(update?.Update?.ExpressionAttributeValues).toMatchObject({ ':after': 100_500, ':number': 4 });
        memory.put(ledgerEntryKey(ACCOUNT_ID, 4), put?.Put?.Item ?? {});
      }
    };

    const entry = await changeBalance(ACCOUNT_ID, aTopUp(500), NOW);

    expect(account()).toMatchObject({ balanceThousandths: 100_500, ledgerEntries: 4 });
    expect(entries()).toEqual([{ ...ledgerEntryKey(ACCOUNT_ID, 4), ...entry }]);
  });

  test('of an account that does not exist is not made', async () => {
    await expect(changeBalance('acc_none', aTopUp(1), NOW)).rejects.toThrow(NotFoundError);
    expect(memory.transactions).toEqual([]);
  });

  test('gives up when it loses every race, and has written nothing', async () => {
    let others = 3;
    memory.beforeTransaction = () => memory.patch(accountKey(ACCOUNT_ID), { ledgerEntries: ++others });

    await expect(changeBalance(ACCOUNT_ID, aTopUp(1), NOW)).rejects.toThrow(RateLimitedError);
    expect(entries()).toEqual([]);
  });

  test('leaves an unbroken chain, however many are made at once', async () => {
    const amounts = fc.array(
      fc.integer({ min: -30_000, max: 30_000 }).filter((amount) => amount !== 0),
      {
        minLength: 1,
        maxLength: 20,
      },
    );
    await fc.assert(
      fc.asyncProperty(amounts, async (changes) => {
        memory.reset();
        memory.put(accountKey(ACCOUNT_ID), anAccount({ balanceThousandths: 50_000, ledgerEntries: 0 }));

        await Promise.allSettled(changes.map((amount) => changeBalance(ACCOUNT_ID, aTopUp(amount), NOW)));

        let balance = 50_000;
        entries().forEach((entry, index) => {
          balance += Number(entry.amountThousandths) * (entry.type === 'debit' ? -1 : 1);
          expect(entry).toMatchObject({ number: index + 1, balanceAfterThousandths: balance });
          expect(balance).toBeGreaterThanOrEqual(0);
        });
        expect(account()).toMatchObject({ balanceThousandths: balance, ledgerEntries: entries().length });
      }),
      { numRuns: 50 },
    );
  });
});
