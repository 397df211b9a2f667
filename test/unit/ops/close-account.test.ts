import { beforeEach, describe, expect, test } from '@jest/globals';
import { insertApiKey } from '../../../core/accounts/api-keys.ts';
import { accountKey, accountListing, apiKeyKey, endUserKey, requestKey } from '../../../core/table/keys.ts';
import { NOW } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anEndUser,
  anImageRequest,
  EMAIL,
  putEndUser,
  putRequest,
  REQUEST_ID,
} from '../builders/entities.ts';
import { memory } from '../fakes/fresh-table.ts';
import '../fakes/fresh-bucket.ts';
import { describeLocalRun } from './local-run.ts';

const { ops, json } = describeLocalRun({ BucketName: 'bucket' });
const BUSY = 'busy@example.com';
const LIMITS = { requestsPerSecond: 50, burst: 100 };
let key: { keyId: string; text: string };

beforeEach(async () => {
  process.env.TABLE_NAME = 'table';
  process.env.BUCKET_NAME = 'bucket';
  const account = anAccount({ name: 'Northwind' });
  memory.put(accountKey(ACCOUNT_ID), { ...accountListing(ACCOUNT_ID, account.createdAt), ...account });
  putEndUser(memory, anEndUser({ activeRequests: 0 }));
  putRequest(memory, anImageRequest({ status: 'succeeded', finishedAt: NOW.toISOString() }));
  const { apiKey, text } = await insertApiKey(ACCOUNT_ID, { scopes: [], label: '', limits: LIMITS }, NOW);
  key = { keyId: apiKey.keyId, text };
});
const endUser = (email: string) => memory.get(endUserKey(ACCOUNT_ID, email));

describe('end-users delete', () => {
  test('erases an end-user with their requests, once it is confirmed, and records that by id', async () => {
    const asked = await ops('end-users', 'delete', ACCOUNT_ID, EMAIL);

    expect(asked).toMatchObject({ status: 2, stderr: expect.stringMatching(/Give --yes/) });
    expect(endUser(EMAIL)).toBeDefined();
    const { endUserId } = anEndUser();
    expect(await json('end-users', 'delete', ACCOUNT_ID, EMAIL, '--yes')).toMatchObject({
      ...{ accountId: ACCOUNT_ID, endUserId, removedRequests: 1 },
    });
    expect([endUser(EMAIL), memory.get(requestKey(REQUEST_ID))]).toEqual([undefined, undefined]);
    const audit = await json('audit', 'list', ACCOUNT_ID);
    expect(audit).toMatchObject([{ action: 'end-users delete', subject: endUserId }]);
    expect(JSON.stringify(audit)).not.toContain(EMAIL);
  });

  test('is refused while a request is unfinished: nothing is erased or recorded', async () => {
    putEndUser(memory, anEndUser({ activeRequests: 1 }));

    expect(await ops('end-users', 'delete', ACCOUNT_ID, EMAIL, '--yes')).toMatchObject({ status: 1 });
    expect(endUser(EMAIL)).toBeDefined();
    expect(await json('audit', 'list', ACCOUNT_ID)).toEqual([]);
  });
});

describe('accounts close', () => {
  test('revokes keys, erases end-users, names who is left, and goes on when it is repeated', async () => {
    putEndUser(memory, anEndUser({ email: BUSY, endUserId: 'eu_busy', activeRequests: 1 }));
    expect(await ops('accounts', 'close', 'Northwind')).toMatchObject({ status: 2 });

    const first = await ops('accounts', 'close', 'northwind', '--yes', '--json');

    expect(first).toMatchObject({ status: 1, stderr: expect.stringMatching(/Repeat the command/) });
    expect(JSON.parse(first.stdout)).toMatchObject({
      ...{ revokedKeys: 1, removedEndUsers: 1, unfinishedEndUsers: ['eu_busy'] },
      stays: expect.stringMatching(/ledger entries; the audit/),
    });
    expect(memory.get(accountKey(ACCOUNT_ID))).toHaveProperty('blockedAt');
    expect(memory.get(apiKeyKey(key.keyId))).toHaveProperty('revokedAt');
    expect(endUser(EMAIL)).toBeUndefined();
    putEndUser(memory, anEndUser({ email: BUSY, endUserId: 'eu_busy', activeRequests: 0 }));
    expect(await json('accounts', 'close', ACCOUNT_ID, '--yes')).toMatchObject({
      ...{ revokedKeys: 0, removedEndUsers: 1, unfinishedEndUsers: [] },
    });
    expect(endUser(BUSY)).toBeUndefined();
  });
});

describe('an account is found by its name', () => {
  test('in any case, when it is the only one', async () => {
    expect(await json('accounts', 'show', 'NORTHWIND')).toMatchObject({ accountId: ACCOUNT_ID });
    expect(await ops('accounts', 'show', 'Acme')).toMatchObject({
      ...{ status: 1, stderr: expect.stringMatching(/no account with the id or the name Acme/) },
    });
  });

  test('and both ids are named when two have it', async () => {
    const other = anAccount({ accountId: 'acc_01JD4KXQ8M0000000000000009', name: 'northwind' });
    memory.put(accountKey(other.accountId), {
      ...accountListing(other.accountId, NOW.toISOString()),
      ...other,
    });

    expect(await ops('accounts', 'block', 'Northwind')).toMatchObject({
      ...{ status: 2, stderr: expect.stringMatching(`${ACCOUNT_ID}, ${other.accountId}`) },
    });
  });
});

describe('keys revoke', () => {
  test('takes the text that leaked as its argument, and repeats it nowhere', async () => {
    const { status, stdout, stderr } = await ops('keys', 'revoke', key.text);

    expect([status, memory.get(apiKeyKey(key.keyId))]).toEqual([
      ...[0, expect.objectContaining({ revokedAt: expect.any(String) })],
    ]);
    expect(stdout + stderr + JSON.stringify(await json('audit', 'list'))).not.toContain(key.text);
  });

  test('of a revoked key changes nothing, records nothing, and says so', async () => {
    await ops('keys', 'revoke', key.keyId);
    const recorded = await json('audit', 'list');

    const again = await ops('keys', 'revoke', key.keyId);

    expect(again).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/revoked before: nothing is changed/),
    });
    expect(await json('audit', 'list')).toEqual(recorded);
  });

  test.each([
    ['cut short', (text: string) => [text.slice(0, -3)]],
    ['with a digit changed', (text: string) => [`${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`]],
    ['given twice', (text: string) => [text, '--key-id', 'key_0f3c']],
    ['by both options', (text: string) => ['--key', text, '--key-id', 'key_0f3c']],
  ])('never repeats a text that is %s', async (_, args) => {
    const { status, stderr } = await ops('keys', 'revoke', ...args(key.text));

    expect(status).not.toBe(0);
    expect(stderr).not.toContain(key.text.slice(0, 40));
  });

  test.each<[string, (text: string) => string[]]>([
    ['one argument too many', (text) => ['keys', 'revoke', 'Northwind', text]],
    ['twice the argument', (text) => ['keys', 'revoke', text, text]],
    ['an unknown option', (text) => ['keys', 'revoke', `--secret=${text}`]],
    ['an unknown verb', (text) => ['keys', text]],
    ['the account', (text) => ['keys', 'list', text]],
    ['the account, without its beginning', (text) => ['keys', 'list', text.slice('gsk_'.length)]],
    ['the id of another command', (text) => ['keys', 'set-budget', text, '--none']],
    ['the id of a request', (text) => ['requests', 'show', text]],
    ['an amount', (text) => ['balance', 'topup', ACCOUNT_ID, '--amount', text]],
    ['a choice', (text) => ['requests', 'list', '--status', text]],
    ['a time', (text) => ['requests', 'list', '--since', text]],
  ])('given as %s: no error repeats it', async (_, args) => {
    const { status, stdout, stderr } = await ops(...args(key.text));

    expect(status).not.toBe(0);
    expect(stdout + stderr).not.toContain(key.text.slice(-20));
  });

  test('shows the controls of an unknown id by their codes', async () => {
    const { stderr } = await ops('requests', 'show', 'img_\u001b[31mred');

    expect(stderr).toContain('\\u001b[31mred');
    expect(stderr).not.toContain('\u001b');
  });
});
