import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AService, OPERATOR, startService } from './a-service.ts';

let service: AService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

interface Account {
  accountId: string;
  name: string;
  createdAt: string;
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('accounts', () => {
  test('create prints the new account with a balance of 0 and its webhook secret', async () => {
    const value = await service.json<Account>('accounts', 'create', '--name', '  Acme Studio ');

    expect(value).toEqual({
      accountId: expect.stringMatching(/^acc_[0-9A-HJKMNP-TV-Z]{26}$/),
      name: 'Acme Studio',
      xTokens: 0,
      webhookSecret: expect.stringMatching(/^whsec_.{44}$/),
      createdAt: expect.stringMatching(INSTANT),
    });
  });

  test('list prints every account, oldest first, with exactly the fixed fields', async () => {
    const first = await service.json<Account>('accounts', 'create', '--name', 'first');
    const second = await service.json<Account>('accounts', 'create', '--name', 'second');
    await service.json('balance', 'topup', '--account', second.accountId, '--amount', '12.345');

    const listed = await service.json<Account[]>('accounts', 'list');

    const own = listed.filter(({ accountId }) => [first.accountId, second.accountId].includes(accountId));
    const summary = ({ accountId, name, createdAt }: Account) => ({ accountId, name, createdAt });
    expect(own).toEqual([
      { ...summary(first), xTokens: 0, blockedAt: null },
      { ...summary(second), xTokens: 12.345, blockedAt: null },
    ]);
  });

  test('show adds the limits and the number of ledger entries', async () => {
    const { accountId, name, createdAt } = await service.json<Account>(
      'accounts',
      'create',
      '--name',
      'shown',
    );
    await service.json('balance', 'topup', '--account', accountId, '--amount', '7');

    expect(await service.json('accounts', 'show', '--account', accountId)).toEqual({
      accountId,
      name,
      xTokens: 7,
      createdAt,
      blockedAt: null,
      limits: { requestsPerSecond: 50, burst: 100 },
      ledgerEntries: 1,
    });
  });

  test('show of an unknown account is refused with one line', async () => {
    const accountId = 'acc_01HZZZZZZZZZZZZZZZZZZZZZZZ';

    expect(await service.ops('accounts', 'show', '--account', accountId, '--json')).toEqual({
      status: 1,
      stdout: '',
      stderr: `There is no account ${accountId}. List accounts with: accounts list\n`,
    });
  });

  test('list and show print tables without --json', async () => {
    const { accountId } = await service.json<Account>('accounts', 'create', '--name', 'for people');

    const list = await service.ops('accounts', 'list');
    const show = await service.ops('accounts', 'show', '--account', accountId);

    expect(list.stdout.split('\n')[0]).toMatch(/^ACCOUNT +NAME +XTOKENS +CREATED +BLOCKED$/);
    expect(list.stdout).toMatch(new RegExp(`${accountId}  for people +0  \\S+Z +-`));
    expect(show.stdout).toMatch(/limits +50 requests a second, bursts of 100\n/);
    expect([list.status, list.stderr, show.status, show.stderr]).toEqual([0, '', 0, '']);
  });

  test("every call is signed with the local run's operator key", () => {
    expect([...service.callers]).toEqual([OPERATOR.accessKeyId]);
  });
});
