import { beforeEach, describe, expect, test } from '@jest/globals';
import { accountKey, accountListing, ledgerEntryKey } from '../../../core/table/keys.ts';
import { ACCOUNT_ID, aLedgerEntry, anAccount } from '../builders/entities.ts';
import { memory } from '../fakes/fresh-table.ts';
import { describeLocalRun } from './local-run.ts';

const { ops, json } = describeLocalRun();
beforeEach(() => {
  for (const accountId of [ACCOUNT_ID, 'acc_2']) {
    const account = anAccount({ accountId, balanceThousandths: 2_000, ledgerEntries: 2 });
    memory.put(accountKey(accountId), { ...accountListing(accountId, account.createdAt), ...account });
    for (const number of [1, 2])
      memory.put(ledgerEntryKey(accountId, number), aLedgerEntry(number, { accountId }));
  }
});

const PROBLEM = {
  accountId: 'acc_2',
  kind: 'balance',
  detail: 'The balance is 3 and the newest entry leaves 2.',
};

describe('ledger verify', () => {
  test.each([[[]], [['--full']]])(
    'with %j prints how much was read, and that all adds up',
    async (options) => {
      expect(await json('ledger', 'verify', ...options)).toEqual({ accounts: 2, entries: 4, problems: [] });
      expect(await ops('ledger', 'verify', ...options)).toEqual({
        status: 0,
        stdout: 'Read 4 entries of 2 accounts: all add up.\n',
        stderr: '',
      });
    },
  );

  test('--account reads only that account', async () => {
    memory.patch(accountKey('acc_2'), { balanceThousandths: 3_000 });

    const verified = await json('ledger', 'verify', '--account', ACCOUNT_ID);

    expect(verified).toEqual({ accounts: 1, entries: 2, problems: [] });
  });

  test('prints the problems and fails with one line when there are any', async () => {
    memory.patch(accountKey('acc_2'), { balanceThousandths: 3_000 });

    const { status, stdout, stderr } = await ops('ledger', 'verify', '--json');

    expect([status, stderr]).toEqual([1, 'The ledger has 1 problem.\n']);
    expect(JSON.parse(stdout)).toEqual({ accounts: 2, entries: 4, problems: [PROBLEM] });
    expect(await ops('ledger', 'verify', '--full')).toEqual({
      status: 1,
      stdout: expect.stringMatching(
        /^Read 4 entries of 2 accounts\.\n\nACCOUNT +KIND +DETAIL\nacc_2 +balance +The /,
      ),
      stderr: 'The ledger has 1 problem.\n',
    });
  });

  test('has a problem with an account that cannot be read, and verifies the others', async () => {
    memory.patch(accountKey(ACCOUNT_ID), { name: 7 });
    memory.patch(accountKey('acc_2'), { balanceThousandths: 3_000 });

    const { status, stdout } = await ops('ledger', 'verify', '--json');

    expect([status, JSON.parse(stdout)]).toEqual([
      1,
      {
        ...{ accounts: 2, entries: 2 },
        problems: [
          { accountId: ACCOUNT_ID, kind: 'unreadable', detail: 'The account cannot be read.' },
          PROBLEM,
        ],
      },
    ]);
  });

  test('is refused for an unknown account', async () => {
    expect(await ops('ledger', 'verify', '--account', 'acc_none', '--json')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'There is no account acc_none. List accounts with: accounts list\n',
    });
  });
});
