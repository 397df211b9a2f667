import { BatchGetCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { accountKey, apiKeyKey, endUserKey, ledgerEntryKey, requestKey } from '../../../core/table/keys.ts';
import { table } from '../../../core/table/table.ts';
import { toEpochSeconds } from '../../../core/time.ts';
import { compareTables } from '../../../ops/restore/compare-tables.ts';
import { NOW } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  aLedgerEntry,
  anAccount,
  anEndUser,
  anImageRequest,
  EMAIL,
} from '../builders/entities.ts';
import { withEnvironment } from '../builders/environment.ts';

/** Compares a restored table of these items with a living one of those. */
const compare = (restored: object[], living: Record<string, unknown>[]) => {
  const aws = mockClient(table);
  aws.on(ScanCommand, { TableName: 'restored' }).resolves({ Items: restored as never });
  aws.on(ScanCommand, { TableName: 'living' }).resolves({ Items: living });
  aws.on(BatchGetCommand).resolves({ Responses: { living } });
  return withEnvironment({ TABLE_NAME: 'living' }, () => compareTables('restored', NOW));
};

test('a request that is gone comes back, unless it has expired since and DynamoDB removes it again', async () => {
  const nowSeconds = toEpochSeconds(NOW.toISOString());
  const restored = [undefined, nowSeconds + 1, nowSeconds].map((ttl, index) => {
    const requestId = `img_${index}`;
    return { ...requestKey(requestId), ...anImageRequest({ requestId }), ttl };
  });

  expect((await compare(restored, [])).comeBack.requests).toBe(2);
});

test('a key is revoked again when it was revoked since, not when it is revoked in both tables', async () => {
  const revokedAt = NOW.toISOString();
  const key = (keyId: string, more = {}) => ({ ...apiKeyKey(keyId), keyId, ...more });
  const restored = [key('key_since'), key('key_before', { revokedAt }), key('key_used')];
  const living = [key('key_since', { revokedAt }), key('key_before', { revokedAt }), key('key_used')];

  expect((await compare(restored, living)).removals.keys).toEqual([{ keyId: 'key_since', revokedAt }]);
});

test('a change of a balance by an operator since is lost, and a debit is none', async () => {
  const entry = (number: number, more = {}) => ({
    ...ledgerEntryKey(ACCOUNT_ID, number),
    ...aLedgerEntry(number, more),
  });
  const living = [entry(1), entry(2), entry(3, { type: 'debit', reason: 'generation', reference: 'img_1' })];

  const { lost } = await compare(living.slice(0, 1), living);

  expect(lost.operatorChanges.map(({ number }) => number)).toEqual([2]);
});

test('a block is repeated when it was made since, not when it is in both tables; a new webhook secret with the one before', async () => {
  const blockedAt = NOW.toISOString();
  const secrets = { previousWebhookSecret: 'whsec_before', previousValidUntil: NOW.toISOString() };
  const items = (changes: object, accountChanges = {}) => [
    { ...accountKey(ACCOUNT_ID), ...anAccount(), ...changes, ...accountChanges },
    { ...endUserKey(ACCOUNT_ID, EMAIL), ...anEndUser(), ...changes },
  ];
  const living = items({ blockedAt }, { webhookSecret: 'whsec_new', ...secrets });

  expect((await compare(items({}), living)).removals).toMatchObject({
    accountBlocks: [{ accountId: ACCOUNT_ID, blockedAt }],
    endUserBlocks: [{ accountId: ACCOUNT_ID, email: EMAIL, blockedAt }],
    webhookSecrets: [{ accountId: ACCOUNT_ID, webhookSecret: 'whsec_new', ...secrets }],
  });
  expect((await compare(living, living)).removals).toMatchObject({
    accountBlocks: [],
    endUserBlocks: [],
    webhookSecrets: [],
  });
});

test('an end-user is removed again while the removal is under way, or when another has the address', async () => {
  const endUser = (email: string, more = {}) => ({
    ...endUserKey('acc_1', email),
    ...anEndUser({ email, ...more }),
  });
  const emails = ['stays@example.com', 'removed@example.com', 'new@example.com'] as const;
  const [stays, removed, another] = emails;
  const living = [
    endUser(stays),
    endUser(removed, { removalId: 'rmv_1' }),
    endUser(another, { endUserId: 'other' }),
  ];
  const compared = await compare(
    emails.map((email) => endUser(email)),
    living,
  );

  expect(compared.removals.endUsers.map(({ email }) => email)).toEqual([removed, another]);
});
