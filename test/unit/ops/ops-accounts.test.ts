import { beforeEach, describe, expect, test } from '@jest/globals';
import { insertApiKey } from '../../../core/accounts/api-keys.ts';
import { accountKey, apiKeyKey } from '../../../core/table/keys.ts';
import { NOW } from '../builders/clocks.ts';
import { ACCOUNT_ID, anAccount } from '../builders/entities.ts';
import { memory } from '../fakes/fresh-table.ts';
import { describeLocalRun } from './local-run.ts';

const run = describeLocalRun();
beforeEach(() => {
  memory.put(accountKey(ACCOUNT_ID), anAccount());
});

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const account = () => memory.get(accountKey(ACCOUNT_ID));
const ops = (verb: string, ...args: string[]) => run.ops('accounts', verb, '--account', ACCOUNT_ID, ...args);
const jsonOf = (verb: string, ...args: string[]) =>
  run.json('accounts', verb, '--account', ACCOUNT_ID, ...args) as Promise<Record<string, string>>;
const LIMITS = ['--requests-per-second', '2.5', '--burst', '4'];

describe('an operation on an account', () => {
  test('block and unblock print only the time of the block', async () => {
    const blocked = await jsonOf('block');

    expect(blocked).toStrictEqual({ accountId: ACCOUNT_ID, blockedAt: expect.stringMatching(INSTANT) });
    expect(account()).toMatchObject({ blockedAt: blocked.blockedAt });
    expect(await jsonOf('block')).toStrictEqual(blocked);
    expect(await jsonOf('show')).toMatchObject({ blockedAt: blocked.blockedAt });
    expect(await jsonOf('unblock')).toStrictEqual({ accountId: ACCOUNT_ID, blockedAt: null });
    expect(await jsonOf('unblock')).toStrictEqual({ accountId: ACCOUNT_ID, blockedAt: null });
    expect(account()).not.toHaveProperty('blockedAt');
  });

  test('set-limits prints the limits and stores them in the account and its keys', async () => {
    const limits = { requestsPerSecond: 50, burst: 100 };
    process.env.TABLE_NAME = 'table';
    const { apiKey } = await insertApiKey(ACCOUNT_ID, { scopes: [], label: '', limits }, NOW);

    expect(await jsonOf('set-limits', ...LIMITS)).toStrictEqual({
      accountId: ACCOUNT_ID,
      limits: { requestsPerSecond: 2.5, burst: 4 },
    });
    expect(account()).toMatchObject({ limits: { requestsPerSecond: 2.5, burst: 4 } });
    expect(memory.get(apiKeyKey(apiKey.keyId))).toMatchObject({ intervalMs: 400, spareMs: 800 });
  });

  test('set-end-user of a key prints and stores its default end-user, and takes it away', async () => {
    process.env.TABLE_NAME = 'table';
    const limits = { requestsPerSecond: 50, burst: 100 };
    const { keyId } = (await insertApiKey(ACCOUNT_ID, { scopes: [], label: '', limits }, NOW)).apiKey;
    const set = (endUser: string) => run.json('keys', 'set-end-user', keyId, '--end-user', endUser);

    expect(await set(' Ada@Example.com')).toEqual({ keyId, endUser: 'ada@example.com' });
    expect(memory.get(apiKeyKey(keyId))).toMatchObject({ defaultEndUser: 'ada@example.com' });
    expect(await set('none')).toEqual({ keyId, endUser: null });
    expect(memory.get(apiKeyKey(keyId))).not.toHaveProperty('defaultEndUser');
  });

  test('rotate-webhook-secret prints the new secret and when the previous one expires', async () => {
    const value = await jsonOf('rotate-webhook-secret');

    expect(value).toStrictEqual({
      accountId: ACCOUNT_ID,
      webhookSecret: expect.stringMatching(/^whsec_.{44}$/),
      previousValidUntil: expect.stringMatching(INSTANT),
    });
    expect(account()).toMatchObject({
      webhookSecret: value.webhookSecret,
      previousWebhookSecret: anAccount().webhookSecret,
    });
    expect(JSON.stringify(value)).not.toContain(anAccount().webhookSecret);
  });

  test('prints field by field without --json', async () => {
    expect((await ops('unblock')).stdout).toBe(`accountId  ${ACCOUNT_ID}\nblockedAt  -\n`);
    expect((await ops('set-limits', ...LIMITS)).stdout).toBe(
      `accountId          ${ACCOUNT_ID}\nrequestsPerSecond  2.5\nburst              4\n`,
    );
  });

  test('on an unknown account is refused with one line', async () => {
    memory.remove(accountKey(ACCOUNT_ID));

    expect(await ops('block')).toEqual({
      status: 1,
      stdout: '',
      stderr: `There is no account ${ACCOUNT_ID}. List accounts with: accounts list\n`,
    });
  });
});
