import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { decodeTime } from 'ulid';
import type { Account } from '../../../../core/accounts/accounts.ts';
import { balanceChangeWrites } from '../../../../core/ledger/ledger.ts';
import { MAX_THOUSANDTHS } from '../../../../core/money.ts';
import { accountKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import type { TransactItem } from '../../../../core/table/transactions.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { account, aTopUp, entries } from './a-balance.ts';

describe('the writes of a balance change', () => {
  const head = {
    accountId: ACCOUNT_ID,
    balanceThousandths: 10_000,
    ledgerEntries: 3,
    balanceUpdatedAt: atSeconds(-1).toISOString(),
  };

  const given = (found: Partial<Account>) => memory.put(accountKey(ACCOUNT_ID), anAccount(found));
  const apply = (writes: TransactItem[]) => table.send(new TransactWriteCommand({ TransactItems: writes }));
  /** Whether the writes hold when the account is in this state. */
  const hold = async (writes: TransactItem[], found: Partial<Account>): Promise<boolean> => {
    memory.reset();
    given({ ...head, ...found });
    return apply(writes).then(
      () => true,
      () => false,
    );
  };

  test('move balance and counter together, only from the head they build on', async () => {
    const { entry, writes } = balanceChangeWrites(head, aTopUp(2_500), NOW);

    const expected = {
      id: expect.stringMatching(/^led_[0-9A-Z]{26}$/),
      accountId: ACCOUNT_ID,
      number: 4,
      type: 'credit',
      reason: 'topup',
      amountThousandths: 2_500,
      balanceAfterThousandths: 12_500,
      reference: 'invoice 7',
      createdAt: NOW.toISOString(),
    };
    expect(entry).toStrictEqual(expected);
    given(head);
    await apply(writes);
    expect(account()).toMatchObject({
      ...{ balanceThousandths: 12_500, ledgerEntries: 4, balanceUpdatedAt: NOW.toISOString() },
    });
    expect(entries()).toEqual([{ PK: `LEDGER#${ACCOUNT_ID}`, SK: 'ENTRY#000000000004', ...entry }]);
    // Applied again they would build on another head: the refusal returns it.
    await expect(apply(writes)).rejects.toMatchObject({
      CancellationReasons: [{ Item: expect.anything() }, { Code: 'ConditionalCheckFailed' }],
    });
    memory.reset();
    await expect(apply(writes)).rejects.toThrow();
    expect(entries()).toEqual([]);
  });

  test.each([
    ['the instant of the change', -0.001, 0],
    ['the previous entry, written by a clock that is ahead', 2, 2],
  ])('are dated by %s', async (_, previous, expected) => {
    const balanceUpdatedAt = atSeconds(previous).toISOString();
    const createdAt = atSeconds(expected).toISOString();

    const { entry, writes } = balanceChangeWrites({ ...head, balanceUpdatedAt }, aTopUp(1), NOW);

    expect(entry.createdAt).toBe(createdAt);
    expect(await hold(writes, {})).toBe(true);
    expect(account()).toMatchObject({ balanceUpdatedAt: createdAt });
    expect(decodeTime(entry.id.slice('led_'.length))).toBe(Date.parse(createdAt));
  });

  test("of an operator's credit hold only while the balance stays within the limit; of a refund always", async () => {
    const refund = { amountThousandths: 4_000, reason: 'refund', reference: 'img_1' } as const;
    const guarded = balanceChangeWrites(head, aTopUp(4_000), NOW).writes;
    const full = { ...head, balanceThousandths: MAX_THOUSANDTHS };

    expect(await hold(guarded, { balanceThousandths: MAX_THOUSANDTHS - 4_000 })).toBe(true);
    expect(await hold(guarded, { balanceThousandths: MAX_THOUSANDTHS - 3_999 })).toBe(false);
    expect(await hold(guarded, { ledgerEntries: 4 })).toBe(false);
    expect(await hold(balanceChangeWrites(full, refund, NOW).writes, full)).toBe(true);
  });

  test('of a guarded debit hold only for an account that is not blocked and has the funds', async () => {
    const debit = { amountThousandths: -4_000, reason: 'generation', reference: 'img_1' } as const;
    const { entry, writes } = balanceChangeWrites(head, { ...debit, guardFunds: true }, NOW);

    expect(entry).toMatchObject({
      type: 'debit',
      amountThousandths: 4_000,
      balanceAfterThousandths: 6_000,
    });
    expect(await hold(writes, { balanceThousandths: 4_000 })).toBe(true);
    expect(await hold(writes, { balanceThousandths: 3_999 })).toBe(false);
    expect(await hold(writes, { blockedAt: NOW.toISOString() })).toBe(false);
    expect(await hold(writes, { ledgerEntries: 4 })).toBe(false);
    expect(await hold(writes, {})).toBe(true);
    expect(account()).toMatchObject({ balanceThousandths: 6_000, ledgerEntries: 4 });
  });
});
