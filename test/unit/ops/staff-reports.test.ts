import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { LedgerEntry } from '../../../core/ledger/ledger.ts';
import { accountKey, accountListing, ledgerEntryKey } from '../../../core/table/keys.ts';
import { systemClock } from '../../../core/time.ts';
import { formatCsv } from '../../../ops/csv.ts';
import { NOW } from '../builders/clocks.ts';
import { ACCOUNT_ID, aLedgerEntry, anAccount, anEndUser, EMAIL, putEndUser } from '../builders/entities.ts';
import { memory } from '../fakes/fresh-table.ts';
import { describeLocalRun } from './local-run.ts';

const { ops, json } = describeLocalRun();
jest.spyOn(systemClock, 'now').mockReturnValue(NOW);
const OTHER = 'acc_01JD4KXQ8M0000000000000009';

const putAccount = (accountId: string, name: string, entries: Partial<LedgerEntry>[]): void => {
  const account = anAccount({ accountId, name, ledgerEntries: entries.length });
  memory.put(accountKey(accountId), { ...accountListing(accountId, account.createdAt), ...account });
  entries.forEach((entry, index) => {
    memory.put(ledgerEntryKey(accountId, index + 1), aLedgerEntry(index + 1, { accountId, ...entry }));
  });
};
const OF_ADA = { model: 'xQI3Pro', endUserId: anEndUser().endUserId, keyId: 'key_1' };
const entry = (
  reason: LedgerEntry['reason'],
  amountThousandths: number,
  balanceAfterThousandths: number,
  createdAt: string,
): Partial<LedgerEntry> => ({
  type: reason === 'generation' ? 'debit' : 'credit',
  ...{ reason, amountThousandths, balanceAfterThousandths, createdAt },
  ...(reason === 'topup' ? {} : OF_ADA),
  ...(reason === 'refund' && { keyId: undefined, debitNumber: 2 }),
});

beforeEach(() => {
  putEndUser(memory, anEndUser());
  putAccount(ACCOUNT_ID, 'Acme, Inc.', [
    entry('topup', 2_000_000, 2_000_000, '2026-10-31T10:00:00.000Z'),
    entry('generation', 1_500_000, 500_000, '2026-11-02T10:00:00.000Z'),
    entry('refund', 500_000, 1_000_000, '2026-11-02T10:05:00.000Z'),
    entry('generation', 1_000, 999_000, '2026-12-01T00:00:00.000Z'),
  ]);
  putAccount(OTHER, 'Zeta', [entry('generation', 4_000, 6_000, '2026-11-20T10:00:00.000Z')]);
});

describe('usage show', () => {
  const figures = (requests: number, debited: number, refunded: number) => ({
    ...{ requests, debited, refunded },
    xTokens: debited - refunded,
  });

  test('prints a month of all accounts, by account and model unless told otherwise', async () => {
    expect(await json('usage', 'show', '--month', '2026-11')).toEqual({
      ...{ from: '2026-11-01', to: '2026-12-01', by: ['account', 'model'] },
      items: [
        { accountId: ACCOUNT_ID, model: 'xQI3Pro', ...figures(1, 1_500, 500) },
        { accountId: OTHER, model: 'xQI3Pro', ...figures(1, 4, 0) },
      ],
      total: figures(2, 1_504, 500),
    });
  });

  test('adds up accounts that are not asked for', async () => {
    expect(await json('usage', 'show', '--month', '2026-11', '--by', 'model')).toMatchObject({
      items: [{ model: 'xQI3Pro', ...figures(2, 1_504, 500) }],
    });
  });

  test('prints one account by end-user and key, and this month unless told otherwise', async () => {
    expect(await json('usage', 'show', ACCOUNT_ID, '--by', 'endUser,key')).toMatchObject({
      from: '2026-11-01',
      items: [{ endUserEmail: EMAIL, keyId: 'key_1', ...figures(1, 1_500, 500) }],
    });
  });

  test('prints a table with names, separators and a total', async () => {
    const { stdout } = await ops('usage', 'show', '--month', '2026-11');

    expect(stdout.split('\n')[0]).toMatch(/^ACCOUNT +NAME +MODEL +REQUESTS +DEBITED +REFUNDED +XTOKENS$/);
    expect(stdout).toMatch(/\nacc_\S+ +Acme, Inc\. +xQI3Pro +1 +1,500 +500 +1,000\n/);
    expect(stdout).toMatch(/\ntotal +2 +1,504 +500 +1,004\n$/);
  });

  test('prints CSV without separators', async () => {
    const { stdout } = await ops('usage', 'show', '--month', '2026-11', '--csv');

    expect(stdout).toBe(
      `account,name,model,requests,debited,refunded,xTokens\n${ACCOUNT_ID},"Acme, Inc.",xQI3Pro,1,1500,500,1000\n${OTHER},Zeta,xQI3Pro,1,4,0,4\n`,
    );
  });

  test.each([['2026-13'], ['2026'], ['november']])('refuses the month %s', async (month) => {
    expect(await ops('usage', 'show', '--month', month)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('It must be a month like 2026-11.'),
    });
  });
});

describe('balance statement', () => {
  test('prints the entries of a month between two balances', async () => {
    const value = await json('balance', 'statement', ACCOUNT_ID, '--month', '2026-11');

    expect(value).toMatchObject({
      ...{ accountId: ACCOUNT_ID, from: '2026-11-01', to: '2026-12-01' },
      ...{ openingBalance: 2_000, closingBalance: 1_000 },
      changes: { topup: 0, generation: -1_500, refund: 500, admin_adjustment: 0 },
      entries: [{ id: 'led_2' }, { id: 'led_3' }],
    });
  });

  test('of a month without entries has one balance', async () => {
    expect(await json('balance', 'statement', ACCOUNT_ID, '--month', '2027-02')).toMatchObject({
      ...{ openingBalance: 999, closingBalance: 999, entries: [] },
    });
    expect(await json('balance', 'statement', ACCOUNT_ID, '--month', '2025-02')).toMatchObject({
      ...{ openingBalance: 0, closingBalance: 0, entries: [] },
    });
  });

  test.each([1, 2])('is refused when entry %p, before or in the month, cannot be read', async (number) => {
    memory.patch(ledgerEntryKey(ACCOUNT_ID, number), { amountThousandths: 'much' });

    expect(await ops('balance', 'statement', ACCOUNT_ID, '--month', '2026-11')).toEqual({
      ...{ status: 1, stdout: '' },
      stderr: 'An entry of this ledger cannot be read. See: ledger verify\n',
    });
  });

  test('prints CSV, debits negative', async () => {
    const { stdout } = await ops('balance', 'statement', ACCOUNT_ID, '--month', '2026-11', '--csv');

    expect(stdout.split('\n').slice(0, 2)).toEqual([
      'createdAt,id,reason,amount,balanceAfter,reference',
      '2026-11-02T10:00:00.000Z,led_2,generation,-1500,500,invoice',
    ]);
  });
});

describe('accounts list', () => {
  test('sorts by balance, the lowest first, and finds by name, contact or note', async () => {
    memory.patch(accountKey(OTHER), {
      balanceThousandths: 1,
      contact: 'ada@zeta.example',
      note: 'slow payer',
    });
    const names = async (...args: string[]) =>
      ((await json('accounts', 'list', ...args)) as { name: string }[]).map(({ name }) => name);

    expect(await names('--sort', 'balance')).toEqual(['Zeta', 'Acme, Inc.']);
    expect(await names('--search', 'ACME')).toEqual(['Acme, Inc.']);
    expect(await names('--search', 'slow')).toEqual(['Zeta']);
    expect((await ops('accounts', 'list')).stdout).toMatch(/ada@zeta.example +slow payer/);
  });

  test('edit sets and removes what staff writes', async () => {
    await json('accounts', 'edit', OTHER, '--name', 'Zeta GmbH', '--contact', 'bo', '--note', 'n');
    expect(await json('accounts', 'edit', OTHER, '--note', '')).toMatchObject({
      name: 'Zeta GmbH',
      contact: 'bo',
    });
    expect(memory.get(accountKey(OTHER))).not.toHaveProperty('note');
    expect((await ops('accounts', 'edit', OTHER)).status).toBe(2);
  });
});

describe('end-users', () => {
  test('list prints a page of an account, by address and block', async () => {
    putEndUser(memory, anEndUser({ email: 'bob@example.com', blockedAt: NOW.toISOString() }));

    expect(await json('end-users', 'list', ACCOUNT_ID, '--blocked', 'yes')).toMatchObject({
      items: [{ email: 'bob@example.com' }],
      hasMore: false,
    });
    expect((await ops('end-users', 'list', ACCOUNT_ID, '--search', 'ada')).stdout).toMatch(
      /^EMAIL.*\nada@example/,
    );
  });

  test('show, block and unblock print one, by any spelling of the address', async () => {
    const one = (verb: string) => json('end-users', verb, ACCOUNT_ID, 'ADA@example.com ');

    expect(await one('show')).toMatchObject({ email: EMAIL, blockedAt: null, activeRequests: 1 });
    expect(await one('block')).toMatchObject({ email: EMAIL, blockedAt: expect.stringMatching(/Z$/) });
    expect(await one('unblock')).toMatchObject({ blockedAt: null });
    expect((await ops('end-users', 'show', ACCOUNT_ID, 'eve@example.com')).stderr).toMatch(
      /no such end-user/,
    );
  });
});

describe('an id as the argument of its command', () => {
  test('means the same as the option, and may be given with it', async () => {
    const shown = await json('accounts', 'show', '--account', ACCOUNT_ID);

    expect(await json('accounts', 'show', ACCOUNT_ID)).toEqual(shown);
    expect(await json('accounts', 'show', ACCOUNT_ID, '--account', ACCOUNT_ID)).toEqual(shown);
  });

  test('is asked for with an example, and refused when it is not the option', async () => {
    expect(await ops('accounts', 'show')).toMatchObject({
      status: 2,
      stderr: 'Give the account: ops accounts show acc_01J…, or --account acc_01J….\n',
    });
    expect((await ops('accounts', 'show', 'acc_1', '--account', 'acc_2')).stderr).toBe(
      'Give the account once: acc_1 is not acc_2.\n',
    );
  });
});

test('CSV quotes what a reader would split, and disarms formulas', () => {
  expect(
    formatCsv(
      ['a', 'b'],
      [
        ['x,"y"\nz', '=1+1'],
        [null, -5],
      ],
    ),
  ).toBe('a,b\n"x,""y""\nz",\'=1+1\n,-5');
});
