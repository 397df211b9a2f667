import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseKey, SCOPES } from '../../core/accounts/api-keys.ts';
import { type AService, startService } from './a-service.ts';

let service: AService;
let accountId: string;
beforeAll(async () => {
  service = await startService();
  ({ accountId } = await service.json<{ accountId: string }>('accounts', 'create', '--name', 'keys'));
});
afterAll(() => service.stop());

interface Key {
  keyId: string;
  key: string;
  createdAt: string;
}

const createKey = (...args: string[]) => service.json<Key>('keys', 'create', '--account', accountId, ...args);
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('keys', () => {
  test('create defaults to every scope and an empty label', async () => {
    const value = await createKey();

    expect(value).toEqual({
      keyId: expect.stringMatching(/^key_[0-9a-f]{32}$/),
      key: expect.stringMatching(/^gsk_/),
      scopes: [...SCOPES],
      label: '',
      createdAt: expect.stringMatching(INSTANT),
    });
    expect(parseKey(value.key)).toMatchObject({ accountId, keyId: value.keyId });
  });

  test('create stores the given scopes and label', async () => {
    const scopes = 'models:read, balance:read,models:read';

    expect(await createKey('--scopes', scopes, '--label', 'reader')).toMatchObject({
      scopes: ['models:read', 'balance:read'],
      label: 'reader',
    });
  });

  test('the key is stored nowhere', async () => {
    const { key } = await createKey();

    const stored = JSON.stringify(await service.dynamoDb.call('Scan', { TableName: 'the-table' }));

    expect(stored).toContain(key.slice(-4));
    expect(stored).not.toContain(key.slice(-12));
  });

  test('list prints every key without its text, oldest first', async () => {
    const { accountId: own } = await service.json<{ accountId: string }>(
      ...['accounts', 'create', '--name', 'lister'],
    );
    const first = await service.json<Key>('keys', 'create', '--account', own, '--label', 'one');
    const second = await service.json<Key>('keys', 'create', '--account', own, '--scopes', 'balance:read');
    await service.json('keys', 'revoke', '--key-id', second.keyId);

    expect(await service.json('keys', 'list', '--account', own)).toEqual([
      {
        keyId: first.keyId,
        label: 'one',
        scopes: [...SCOPES],
        last4: first.key.slice(-4),
        createdAt: first.createdAt,
        lastUsedAt: null,
        revokedAt: null,
      },
      {
        keyId: second.keyId,
        label: '',
        scopes: ['balance:read'],
        last4: second.key.slice(-4),
        createdAt: second.createdAt,
        lastUsedAt: null,
        revokedAt: expect.stringMatching(INSTANT),
      },
    ]);
  });

  test('revoke takes the id or the key, and keeps the time of the first revocation', async () => {
    const { keyId, key } = await createKey();

    const revoked = await service.json('keys', 'revoke', '--key', key);
    const again = await service.json('keys', 'revoke', '--key-id', keyId);

    expect(revoked).toEqual({ keyId, revokedAt: expect.stringMatching(INSTANT) });
    expect(again).toEqual(revoked);
  });

  test.each([
    ['a malformed key', ['--key', 'gsk_nonsense'], 1, /no API key/],
    ['an unknown id', ['--key-id', 'key_0'], 1, /There is no key key_0\./],
    ['neither', [], 2, /either --key-id or --key/],
    ['both', ['--key-id', 'key_0', '--key', 'gsk_0'], 2, /either --key-id or --key/],
  ])('revoke of %s is refused', async (_case, args, status, message) => {
    const outcome = await service.ops('keys', 'revoke', ...args, '--json');

    expect(outcome).toEqual({ status, stdout: '', stderr: expect.stringMatching(message) });
    expect(outcome.stderr.trimEnd()).not.toContain('\n');
  });

  test.each([['create'], ['list']])('%s for an unknown account is refused', async (verb) => {
    expect(await service.ops('keys', verb, '--account', 'acc_nobody')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'There is no account acc_nobody. List accounts with: accounts list\n',
    });
  });

  test('create says to keep the key, and list prints a table, without --json', async () => {
    const created = await service.ops('keys', 'create', '--account', accountId, '--label', 'for people');
    const listed = await service.ops('keys', 'list', '--account', accountId);

    expect(created.stdout).toMatch(
      /^keyId +key_[\s\S]*\nkey +gsk_[\s\S]*\nscopes +all\n[\s\S]*not shown again\.\n$/,
    );
    expect(listed.stdout).toMatch(/^KEY ID +LABEL +SCOPES +ENDS IN +CREATED +LAST USED +REVOKED\n/);
    expect(listed.stdout).toMatch(/for people +all +\w{4} /);
  });
});
