import { describe, expect, test } from '@jest/globals';
import { insertAccount } from '../../../core/accounts/accounts.ts';
import { insertApiKey, listApiKeys, SCOPES } from '../../../core/accounts/api-keys.ts';
import { ConflictError } from '../../../core/errors.ts';
import { changeBalance } from '../../../core/ledger/change-balance.ts';
import { verifyLedger } from '../../../core/ledger/verify-ledger.ts';
import {
  accountKey,
  apiKeyKey,
  deletedRequestKey,
  endUserKey,
  idempotencyKey,
  ledgerEntryKey,
  ledgerPartition,
} from '../../../core/table/keys.ts';
import { removeAccount } from '../../../ops/remove-account.ts';
import { NOW } from '../builders/clocks.ts';
import { anEndUser, anImageRequest, putEndUser, putRequest } from '../builders/entities.ts';
import { aRequestId } from '../builders/request-ids.ts';
import { memory } from '../fakes/fresh-table.ts';

/** An account with a key, an end-user and two ledger entries. */
const given = async () => {
  const { accountId, limits } = await insertAccount('trial', NOW);
  const { apiKey } = await insertApiKey(accountId, { scopes: SCOPES, label: '', limits }, NOW);
  for (const reason of ['topup', 'admin_adjustment'] as const) {
    await changeBalance(accountId, { amountThousandths: 1000, reason, reference: '' }, NOW);
  }
  putEndUser(memory, anEndUser({ accountId, email: 'ada@example.com' }));
  memory.put(deletedRequestKey(accountId, aRequestId(NOW)), { deletedAt: NOW.toISOString() });
  memory.put(idempotencyKey(accountId, 'digest'), { requestId: aRequestId(NOW) });
  return { accountId, keyId: apiKey.keyId };
};

describe('removing an account', () => {
  test('removes its keys, end-users, ledger and itself, and nothing of another account', async () => {
    const { accountId, keyId } = await given();
    const other = await given();

    await removeAccount(accountId);

    const gone = [
      ...[accountKey(accountId), apiKeyKey(keyId), endUserKey(accountId, 'ada@example.com')],
      ...[ledgerEntryKey(accountId, 1), ledgerEntryKey(accountId, 2), idempotencyKey(accountId, 'digest')],
      deletedRequestKey(accountId, aRequestId(NOW)),
    ];
    for (const key of gone) expect(memory.get(key)).toBeUndefined();
    expect(memory.get(accountKey(other.accountId))).toBeDefined();
    expect(memory.get(ledgerEntryKey(other.accountId, 2))).toBeDefined();
    expect(await listApiKeys(other.accountId)).toHaveLength(1);
  });

  test('removes it before its ledger: a verification finds both or neither', async () => {
    const { accountId } = await given();
    const numberOfEntries = (): number => memory.partition(ledgerPartition(accountId)).length;
    const all = numberOfEntries();
    const seen = new Set<string>();
    memory.beforeCall = () => {
      const account = memory.get(accountKey(accountId)) ? 'account' : 'no account';
      seen.add(`${account}, ${numberOfEntries() === all ? 'whole' : 'part of the'} ledger`);
    };

    await removeAccount(accountId);

    expect([...seen]).toEqual([
      'account, whole ledger',
      'no account, whole ledger',
      'no account, part of the ledger',
    ]);
  });

  test('removes its keys before it: no call is made with a key of an account that is gone', async () => {
    const { accountId, keyId } = await given();
    const seen = new Set<string>();
    memory.beforeCall = () => {
      const kept = [apiKeyKey(keyId), accountKey(accountId)].map((key) => memory.get(key) !== undefined);
      seen.add(kept.map((isKept, index) => `${isKept ? '' : 'no '}${['key', 'account'][index]}`).join(', '));
    };

    await removeAccount(accountId);

    expect([...seen]).toEqual(['key, account', 'no key, account', 'no key, no account']);
  });

  test('removes more than a query returns', async () => {
    const { accountId } = await given();
    memory.itemsPerQuery = 1;

    await removeAccount(accountId);

    expect(memory.get(ledgerEntryKey(accountId, 2))).toBeUndefined();
  });

  test('is refused, with nothing changed, while it has a request', async () => {
    const { accountId, keyId } = await given();
    putRequest(memory, anImageRequest({ accountId, requestId: aRequestId(NOW) }));

    await expect(removeAccount(accountId)).rejects.toThrow(ConflictError);

    expect(memory.get(accountKey(accountId))).toBeDefined();
    expect(memory.get(apiKeyKey(keyId))).toBeDefined();
  });

  test('can be repeated', async () => {
    const { accountId } = await given();
    await removeAccount(accountId);

    await expect(removeAccount(accountId)).resolves.toBeUndefined();
  });
});

describe('a verification of the ledger leaves out an account', () => {
  test('that was removed before its turn', async () => {
    const { accountId } = await given();
    const other = await given();
    await removeAccount(accountId);

    expect(await verifyLedger([{ accountId }, other])).toEqual({
      accounts: 1,
      entries: 2,
      problems: [],
    });
  });

  test('whose ledger is removed while it is read', async () => {
    const { accountId } = await given();
    // The account was read, then removed with its first entry.
    const problems = async () => (await verifyLedger([{ accountId }])).problems;
    memory.remove(ledgerEntryKey(accountId, 1));
    expect(await problems()).not.toEqual([]);

    let calls = 0;
    memory.beforeCall = () => {
      calls += 1;
      if (calls === 3) memory.remove(accountKey(accountId));
    };
    expect(await problems()).toEqual([]);
  });
});
