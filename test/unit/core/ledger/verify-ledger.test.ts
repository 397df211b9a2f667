import { describe, expect, test } from '@jest/globals';
import { getAccount } from '../../../../core/accounts/accounts.ts';
import { balanceChangeWrites } from '../../../../core/ledger/ledger.ts';
import type { LedgerReason } from '../../../../core/ledger/ledger-reasons.ts';
import { verifyLedger } from '../../../../core/ledger/verify-ledger.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { insertRequestWrite } from '../../../../core/requests/requests.ts';
import { accountKey, deletedRequestKey, ledgerEntryKey, requestKey } from '../../../../core/table/keys.ts';
import { transact } from '../../../../core/table/transactions.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount, anImageRequest } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { clock, create, fail, idOf, remove, settle, topUp, verify } from './a-verified-ledger.ts';

const DAY = 86_400;

/** Changes the balance as a bug might. */
const book = (reason: LedgerReason, amountThousandths: number, number: number, now = NOW) =>
  transact(async () => {
    const change = { reason, amountThousandths, reference: idOf(number), retentionDays: 90 };
    return balanceChangeWrites(await getAccount(ACCOUNT_ID), change, now).writes;
  });
const problems = async (now = NOW) =>
  (await verify(now)).problems.map(({ kind, detail }) => [kind, detail.split(' ')[1]]);

const MARK = deletedRequestKey(ACCOUNT_ID, idOf(4));
/** A ledger with one request of every sort. */
const givenOneOfEach = async (): Promise<void> => {
  await topUp();
  for (const number of [1, 2, 3, 4, 5]) await create(number);
  await settle(1, 2);
  await settle(2, 1);
  await fail(3);
  await settle(4, 1);
  await remove(4);
};

describe('verifying a ledger', () => {
  test('counts the accounts and the entries it read, over any number of pages', async () => {
    await givenOneOfEach();
    memory.itemsPerQuery = 2;
    const empty = anAccount({ accountId: 'acc_2', balanceThousandths: 0, ledgerEntries: 0 });
    memory.put(accountKey('acc_2'), empty);

    const accounts = [{ accountId: ACCOUNT_ID }, { accountId: 'acc_2' }];

    // The top-up, five debits, and the refunds of the second, third and fourth.
    expect(await verifyLedger(accounts, clock)).toEqual({ accounts: 2, entries: 9, problems: [] });
  });

  test('reports problems in the order of the accounts, whichever ledger takes longer', async () => {
    await givenOneOfEach();
    memory.itemsPerQuery = 1;
    memory.patch(accountKey(ACCOUNT_ID), { balanceThousandths: 1 });
    const other = anAccount({ accountId: 'acc_2', balanceThousandths: 7, ledgerEntries: 0 });
    memory.put(accountKey('acc_2'), other);

    const { problems: found } = await verifyLedger(
      [{ accountId: ACCOUNT_ID }, { accountId: 'acc_2' }],
      clock,
    );

    expect(found.map(({ accountId }) => accountId)).toEqual([ACCOUNT_ID, 'acc_2']);
  });

  test('finds requests that the index does not list yet', async () => {
    await givenOneOfEach();
    for (const number of [1, 3]) {
      const { GSI2PK: _, ...request } = memory.get(requestKey(idOf(number))) ?? {};
      memory.put(requestKey(idOf(number)), { ...request, refundThousandths: 1 });
    }

    expect(await problems(atSeconds(300))).toEqual(
      expect.arrayContaining([
        ['refund_amount', idOf(1)],
        ['refund_amount', idOf(3)],
      ]),
    );
  });

  test('finds a request without a debit, also one that names none', async () => {
    await givenOneOfEach();
    const insert = (number: number, names: Partial<ImageRequest>) =>
      transact(() => [insertRequestWrite(anImageRequest({ requestId: idOf(number), ...names }))]);
    await insert(8, { debitEntryNumber: 10 });
    await insert(9, {});

    expect(await problems()).toEqual([
      ['debit_missing', idOf(9)],
      ['debit_missing', idOf(8)],
    ]);
  });

  test('finds a second refund of a request that was deleted', async () => {
    await givenOneOfEach();
    await fail(5);
    await remove(5);
    expect(await problems()).toEqual([]);

    await book('refund', 8_000, 5, atSeconds(DAY));

    expect(await problems(atSeconds(2 * DAY))).toEqual([
      ['refund_repeated', idOf(5)],
      ['refund_over_debit', idOf(5)],
      ['refund_amount', idOf(5)],
    ]);
    expect(await problems(atSeconds(900 * DAY))).not.toEqual([]);
  });

  test('finds a second refund of a request that is past its retention, as long as a refund keeps a request', async () => {
    await givenOneOfEach();
    memory.remove(requestKey(idOf(3)));
    expect(await problems(atSeconds(91 * DAY))).toEqual([]);

    await book('refund', 8_000, 3, atSeconds(91 * DAY));

    expect(await problems(atSeconds(92 * DAY))).toContainEqual(['refund_without_request', idOf(3)]);
    expect(await problems(atSeconds(180 * DAY))).toContainEqual(['refund_without_request', idOf(3)]);
  });

  test.each<[string, () => unknown, string[][]]>([
    ['no mark of a deleted request', () => memory.remove(MARK), [['debit_without_request', idOf(4)]]],
    [
      'a mark that cannot be read, and goes on',
      () => {
        memory.patch(MARK, { accounted: { status: 7 } });
        memory.patch(requestKey(idOf(3)), { refundThousandths: 1 });
      },
      [
        ['refund_amount', idOf(3)],
        ['debit_without_request', idOf(4)],
      ],
    ],
    [
      'a request of another account, which is none',
      () => memory.patch(requestKey(idOf(1)), { accountId: 'acc_2' }),
      [['debit_without_request', idOf(1)]],
    ],
    [
      'an entry that the counter does not count',
      () => memory.patch(accountKey(ACCOUNT_ID), { ledgerEntries: 8 }),
      [['entry_counter', 'entries']],
    ],
    [
      'no newest entry',
      () => memory.remove(ledgerEntryKey(ACCOUNT_ID, 9)),
      [
        ['refund_amount', idOf(4)],
        ['refund_missing', idOf(4)],
        ['cost', idOf(4)],
        ['entry_counter', 'entries'],
        ['balance', 'balance'],
      ],
    ],
  ])('finds %s', async (_, spoil, found) => {
    await givenOneOfEach();
    spoil();

    expect(await problems()).toEqual(found);
  });

  test('reads no request and no mark of entries that may be past retention, unless the index lists it', async () => {
    await topUp();
    await create(1);
    await fail(1);
    await remove(1);
    memory.client.resetHistory();
    await problems(atSeconds(91 * DAY));

    expect(memory.calls().BatchGetCommand).toBeUndefined();

    await create(2, { retentionDays: 1 });
    memory.patch(ledgerEntryKey(ACCOUNT_ID, 4), { amountThousandths: 1, balanceAfterThousandths: 999_999 });
    expect(await problems(atSeconds(91 * DAY))).toContainEqual(['debit_amount', idOf(2)]);
  });

  test.each([
    ['raised', 1, '90'],
    ['lowered', 90, '1'],
  ])('judges an absent request by the retention it was created under: %s since', async (_, days, now) => {
    await topUp();
    await create(1, { retentionDays: days });
    await fail(1);
    expect(memory.get(requestKey(idOf(1)))?.ttl).toBe(NOW.getTime() / 1000 + days * DAY);
    memory.remove(requestKey(idOf(1)));

    await withEnvironment({ RETENTION_DAYS: now }, async () => {
      expect(await problems(atSeconds(days * DAY - 3700))).toEqual([['debit_without_request', idOf(1)]]);
      expect(await problems(atSeconds(days * DAY))).toEqual([]);
    });
  });

  test('takes an account when its turn comes, so that its progress can be shown', async () => {
    let taken = 0;
    const accounts = (function* () {
      for (taken = 1; taken <= 20; taken++) yield { accountId: `acc_${taken}` };
    })();
    const takenAtCalls: number[] = [];
    memory.beforeCall = () => takenAtCalls.push(taken);

    await verifyLedger(accounts, clock);

    expect(takenAtCalls[0]).toBeLessThan(10);
  });

  test('counts no account that does not exist: it was removed since it was listed', async () => {
    const verification = await verifyLedger([{ accountId: 'acc_none' }], clock);

    expect(verification).toEqual({ accounts: 0, entries: 0, problems: [] });
  });
});
