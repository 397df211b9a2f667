import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  type Account,
  blockAccount,
  rotateWebhookSecret,
  setAccountLimits,
  unblockAccount,
} from '../../../../core/accounts/accounts.ts';
import { insertApiKey, setKeyLimits } from '../../../../core/accounts/api-keys.ts';
import { consumeApiKey } from '../../../../core/accounts/consume-api-key.ts';
import { NotFoundError, OutcomeUnknownError } from '../../../../core/errors.ts';
import { accountKey, apiKeyKey } from '../../../../core/table/keys.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount } from '../../builders/entities.ts';
import { tableError } from '../../builders/table-errors.ts';
import { memory } from '../../fakes/fresh-table.ts';

const given = (account: Partial<Account> = {}) => memory.put(accountKey(ACCOUNT_ID), anAccount(account));
beforeEach(() => {
  given();
});

const stored = () => memory.get(accountKey(ACCOUNT_ID));
const updates = () => memory.client.commandCalls(UpdateCommand).map(({ args }) => args[0].input);
const LIMITS = { requestsPerSecond: 2, burst: 4 };
/** A call that takes no time. */
const atOnce = (): number => 0;

describe('an operation on an account', () => {
  test.each<[string, () => Promise<Account>]>([
    ['blocking', () => blockAccount(ACCOUNT_ID, NOW)],
    ['unblocking', () => unblockAccount(ACCOUNT_ID)],
    ['setting limits', () => setAccountLimits(ACCOUNT_ID, LIMITS)],
    ['rotating the secret', () => rotateWebhookSecret(ACCOUNT_ID, NOW)],
  ])('%s needs the account, and makes none', async (_, operate) => {
    memory.remove(accountKey(ACCOUNT_ID));

    await expect(operate()).rejects.toThrow(NotFoundError);
    expect(stored()).toBeUndefined();
  });
});

test('blocking an account keeps its first instant and ends with unblocking, each in one update that changes nothing else', async () => {
  const blocked = anAccount({ blockedAt: NOW.toISOString() });

  expect(await blockAccount(ACCOUNT_ID, NOW)).toStrictEqual(blocked);
  expect(await blockAccount(ACCOUNT_ID, atSeconds(5))).toStrictEqual(blocked);
  expect(stored()).toEqual({ ...accountKey(ACCOUNT_ID), ...blocked });
  expect(await unblockAccount(ACCOUNT_ID)).toStrictEqual(anAccount());
  expect(await unblockAccount(ACCOUNT_ID)).toStrictEqual(anAccount());
  expect(stored()).toEqual({ ...accountKey(ACCOUNT_ID), ...anAccount() });
  expect(memory.calls()).toEqual({ UpdateCommand: 4 });
});

describe('rotating the webhook secret', () => {
  const SECRET = expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/);

  test('makes a new one in one update, and keeps the one before, and no other, for 24 h', async () => {
    const first = await rotateWebhookSecret(ACCOUNT_ID, NOW);

    expect(first).toStrictEqual({
      ...anAccount(),
      webhookSecret: SECRET,
      previousWebhookSecret: anAccount().webhookSecret,
      previousValidUntil: atSeconds(86_400).toISOString(),
    });
    expect(memory.calls()).toEqual({ UpdateCommand: 1 });
    expect(stored()).toEqual({ ...accountKey(ACCOUNT_ID), ...first });

    const second = await rotateWebhookSecret(ACCOUNT_ID, atSeconds(60));
    expect(second).toMatchObject({
      webhookSecret: SECRET,
      previousWebhookSecret: first.webhookSecret,
      previousValidUntil: atSeconds(60 + 86_400).toISOString(),
    });
    const secrets = [anAccount(), first, second].map(({ webhookSecret }) => webhookSecret);
    expect(new Set(secrets).size).toBe(3);
  });

  test.each<[string, (input: object) => unknown]>([
    ['to an attempt that the client repeated', (input) => memory.update(input)],
    [
      'altogether',
      () => {
        throw tableError('TimeoutError');
      },
    ],
  ])('is done once when the answer was lost %s', async (_, then) => {
    memory.client.on(UpdateCommand).callsFake((input) => {
      memory.update(input);
      return then(input);
    });

    const account = await rotateWebhookSecret(ACCOUNT_ID, NOW);

    const previousWebhookSecret = anAccount().webhookSecret;
    expect(account).toMatchObject({ webhookSecret: SECRET, previousWebhookSecret });
    expect(stored()).toEqual({ ...accountKey(ACCOUNT_ID), ...account });
  });

  test('is surely refused, without a read of the account, when the table refused the only attempt', async () => {
    const refused = new ResourceNotFoundException({ message: 'no table', $metadata: {} });
    memory.client.on(UpdateCommand).rejects(refused);
    memory.client.on(GetCommand).rejects(new Error('no answer'));

    await expect(rotateWebhookSecret(ACCOUNT_ID, NOW)).rejects.toThrow(refused);
  });

  test('warns of repeating it when no answer came and the old secret is found', async () => {
    memory.client.on(UpdateCommand).rejects(tableError('TimeoutError'));

    const rotation = rotateWebhookSecret(ACCOUNT_ID, NOW);

    await expect(rotation).rejects.toThrow(OutcomeUnknownError);
    await expect(rotation).rejects.toThrow(/A repeat may replace it twice/);
  });
});

describe('the limits of an account', () => {
  const aKey = async (accountId = ACCOUNT_ID) => {
    const limits = { requestsPerSecond: 50, burst: 100 };
    return (await insertApiKey(accountId, { scopes: [], label: '', limits }, NOW)).apiKey;
  };

  test('are set in one update that leaves the rest alone', async () => {
    expect(await setAccountLimits(ACCOUNT_ID, LIMITS)).toStrictEqual(anAccount({ limits: LIMITS }));
    expect(stored()).toEqual({ ...accountKey(ACCOUNT_ID), ...anAccount({ limits: LIMITS }) });
    expect(memory.calls()).toEqual({ UpdateCommand: 1 });
  });

  test('give each of its keys, revoked or not, a full bucket of their own, in one update a key', async () => {
    const keys = [await aKey(), await aKey()];
    const other = await aKey('acc_01JD4KXQ8M0000000000000009');
    const before = structuredClone(memory.get(apiKeyKey(other.keyId)));
    for (const { keyId } of keys) memory.patch(apiKeyKey(keyId), { tat: 5, allowAt: 4 });

    await setKeyLimits(ACCOUNT_ID, LIMITS);

    const changed = updates().map(({ Key }) => String(Key?.PK));
    expect(changed.sort()).toEqual(keys.map(({ keyId }) => `KEY#${keyId}`).sort());
    for (const { keyId } of keys) {
      const key = memory.get(apiKeyKey(keyId));
      expect(key).toMatchObject({ intervalMs: 500, spareMs: 1000 });
      expect(key).not.toHaveProperty('tat');
      expect(key).not.toHaveProperty('allowAt');
    }
    expect(memory.get(apiKeyKey(other.keyId))).toEqual(before);
  });

  test('bring no key back that is deleted meanwhile', async () => {
    const keys = [await aKey(), await aKey()];
    memory.client.on(UpdateCommand).callsFake((input) => {
      for (const { keyId } of keys) memory.remove(apiKeyKey(keyId));
      return memory.update(input);
    });

    await setKeyLimits(ACCOUNT_ID, LIMITS);

    expect(keys.map(({ keyId }) => memory.get(apiKeyKey(keyId)))).toEqual([undefined, undefined]);
  });

  test.each([
    [{ requestsPerSecond: 1, burst: 1 }, 1],
    [{ requestsPerSecond: 2, burst: 4 }, 4],
    [{ requestsPerSecond: 0.5, burst: 3 }, 3],
  ])('let through the burst at once, from now on: %j', async (limits, burst) => {
    const key = await aKey();
    for (let used = 0; used < 100; used++) await consumeApiKey(key, NOW, atOnce);
    expect((await consumeApiKey(key, NOW, atOnce)).retryAfterSeconds).toBe(1);

    await setKeyLimits(ACCOUNT_ID, limits);

    let allowed = 0;
    while ((await consumeApiKey(key, NOW, atOnce)).retryAfterSeconds === undefined) allowed++;
    expect(allowed).toBe(burst);
    const refillSeconds = 1 / limits.requestsPerSecond;
    expect((await consumeApiKey(key, atSeconds(refillSeconds), atOnce)).retryAfterSeconds).toBeUndefined();
    expect((await consumeApiKey(key, atSeconds(refillSeconds), atOnce)).retryAfterSeconds).toBe(
      Math.ceil(refillSeconds),
    );
  });
});
