import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import {
  DEFAULT_LIMITS,
  findAccount,
  getAccount,
  insertAccount,
  listAccountIds,
  listAccounts,
  toAccount,
} from '../../../../core/accounts/accounts.ts';
import { insertApiKey, SCOPES } from '../../../../core/accounts/api-keys.ts';
import { NotFoundError, OutcomeUnknownError } from '../../../../core/errors.ts';
import { accountKey, apiKeyKey, type ItemKey } from '../../../../core/table/keys.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount } from '../../builders/entities.ts';
import { tableError } from '../../builders/table-errors.ts';
import { memory } from '../../fakes/fresh-table.ts';

describe.each<[string, () => Promise<ItemKey>, RegExp]>([
  [
    'an account',
    async () => accountKey((await insertAccount('demo', NOW)).accountId),
    /account acc_[0-9A-Z]{26} may exist/,
  ],
  [
    'an API key',
    async () => {
      const options = { scopes: SCOPES, label: '', limits: DEFAULT_LIMITS };
      return apiKeyKey((await insertApiKey(ACCOUNT_ID, options, NOW)).apiKey.keyId);
    },
    /key_[0-9a-f]{32} may exist.* revoke it/,
  ],
])('creating %s', (_what, create, unknown) => {
  test.each<[string, (input: object) => unknown]>([
    ['to an attempt that the client repeated', (input) => memory.update(input)],
    [
      'altogether',
      () => {
        throw tableError('TimeoutError');
      },
    ],
  ])('is done once when the answer was lost %s', async (_, then) => {
    memory.client.on(PutCommand).callsFake((input) => {
      memory.update(input);
      memory.patch(input.Item, { changed: true });
      return then(input);
    });

    expect(memory.get(await create())).toMatchObject({ changed: true });
  });

  test('says what may exist when no answer came and it is not found, and nothing of that when the table refused', async () => {
    memory.client.on(PutCommand).rejects(tableError('TimeoutError'));
    await expect(create()).rejects.toThrow(OutcomeUnknownError);
    await expect(create()).rejects.toThrow(unknown);

    memory.client.on(GetCommand).rejects(tableError('TimeoutError'));
    await expect(create()).rejects.toThrow(OutcomeUnknownError);

    const refused = new ResourceNotFoundException({ message: 'no table', $metadata: {} });
    memory.client.on(PutCommand).rejects(refused);
    await expect(create()).rejects.toThrow(refused);
  });
});

describe('an account', () => {
  test('starts with a balance of 0, unblocked, with the default limits', async () => {
    const account = await insertAccount('demo', NOW);

    expect(account).toStrictEqual({
      accountId: expect.stringMatching(/^acc_[0-9A-Z]{26}$/),
      name: 'demo',
      balanceThousandths: 0,
      ledgerEntries: 0,
      balanceUpdatedAt: NOW.toISOString(),
      createdAt: NOW.toISOString(),
      webhookSecret: expect.stringMatching(/^whsec_/),
      limits: { requestsPerSecond: 50, burst: 100 },
    });
    expect(memory.get(accountKey(account.accountId))).toEqual({
      PK: `ACCOUNT#${account.accountId}`,
      SK: 'ACCOUNT',
      GSI1PK: 'ACCOUNTS',
      GSI1SK: `${NOW.toISOString()}#${account.accountId}`,
      ...account,
    });
  });

  test('is read by id, without its table keys; one that does not exist is not found', async () => {
    memory.put(accountKey(ACCOUNT_ID), { ...anAccount(), GSI1PK: 'ACCOUNTS' });

    expect(await getAccount(ACCOUNT_ID)).toStrictEqual(anAccount());
    expect(await findAccount('acc_none')).toBeUndefined();
    await expect(getAccount('acc_none')).rejects.toThrow(NotFoundError);
  });

  test('that is stored malformed is refused', () => {
    expect(() => toAccount({ ...anAccount(), balanceThousandths: '100' })).toThrow();
  });

  test('without limits, as another version may store it, has those of a new account', () => {
    expect(toAccount({ ...anAccount(), limits: undefined }).limits).toEqual(DEFAULT_LIMITS);
  });

  test('is listed with the others, or by its id on pages, oldest first', async () => {
    const accounts = [];
    for (const second of [2, 1, 0]) accounts.unshift(await insertAccount('demo', atSeconds(second)));
    memory.itemsPerQuery = 2;

    expect(await listAccounts()).toStrictEqual(accounts);
    memory.itemsPerQuery = Number.POSITIVE_INFINITY;

    const first = await listAccountIds(2);
    const second = await listAccountIds(2, first.next);

    expect([...first.accountIds, ...second.accountIds]).toEqual(accounts.map(({ accountId }) => accountId));
    expect([first.accountIds.length, second.next]).toEqual([2, undefined]);
  });
});
