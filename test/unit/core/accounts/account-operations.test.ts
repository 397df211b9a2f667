import '../../builders/environment.ts';
import { ConditionalCheckFailedException, ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  type Account,
  blockAccount,
  rotateWebhookSecret,
  setAccountLimits,
  unblockAccount,
} from '../../../../core/accounts/accounts.ts';
import { insertApiKey, parseKey, setKeyLimits } from '../../../../core/accounts/api-keys.ts';
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

    const refused = new ResourceNotFoundException({ message: 'no table', $metadata: {} });
    memory.client.on(UpdateCommand).rejects(refused);
    await expect(operate()).rejects.toThrow(refused);
  });
});

describe('blocking an account', () => {
  test('is one update, and the first instant stands', async () => {
    const blockedAt = NOW.toISOString();

    expect(await blockAccount(ACCOUNT_ID, NOW)).toStrictEqual(anAccount({ blockedAt }));
    expect(await blockAccount(ACCOUNT_ID, atSeconds(5))).toStrictEqual(anAccount({ blockedAt }));
    expect(stored()).toEqual({ ...accountKey(ACCOUNT_ID), ...anAccount({ blockedAt }) });
    expect(memory.calls()).toEqual({ UpdateCommand: 2 });
  });

  test('ends with unblocking, which is harmless again and again', async () => {
    given({ blockedAt: NOW.toISOString() });

    expect(await unblockAccount(ACCOUNT_ID)).toStrictEqual(anAccount());
    expect(await unblockAccount(ACCOUNT_ID)).toStrictEqual(anAccount());
    expect(memory.calls()).toEqual({ UpdateCommand: 2 });
    expect(stored()).toEqual({ ...accountKey(ACCOUNT_ID), ...anAccount() });
  });
});

describe('rotating the webhook secret', () => {
  const SECRET = expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/);

  test('makes a new one, and keeps the one before for 24 h', async () => {
    const previous = anAccount().webhookSecret;
    const previousValidUntil = atSeconds(86_400).toISOString();

    const account = await rotateWebhookSecret(ACCOUNT_ID, NOW);

    expect(account).toStrictEqual({
      ...anAccount(),
      webhookSecret: SECRET,
      previousWebhookSecret: previous,
      previousValidUntil,
    });
    expect(account.webhookSecret).not.toBe(previous);
    expect(memory.calls()).toEqual({ UpdateCommand: 1 });
    expect(stored()).toEqual({ ...accountKey(ACCOUNT_ID), ...account });
  });

  /** Applies the update and answers with this error. */
  const answerWith = (error: Error) =>
    memory.client.on(UpdateCommand).callsFake((input) => {
      memory.update(input);
      throw error;
    });

  test.each<[string, Error]>([
    [
      'to an attempt that the client repeated',
      new ConditionalCheckFailedException({ message: 'refused', $metadata: {} }),
    ],
    ['altogether', tableError('TimeoutError')],
  ])('is done once when the answer was lost %s', async (_, error) => {
    answerWith(error);

    const account = await rotateWebhookSecret(ACCOUNT_ID, NOW);

    expect(account).toMatchObject({
      webhookSecret: SECRET,
      previousWebhookSecret: anAccount().webhookSecret,
    });
    expect(stored()).toEqual({ ...accountKey(ACCOUNT_ID), ...account });
  });

  test('is surely refused, without a look at the account, when the table refused the only attempt', async () => {
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

  test('twice keeps the one before the last', async () => {
    const first = await rotateWebhookSecret(ACCOUNT_ID, NOW);
    const second = await rotateWebhookSecret(ACCOUNT_ID, atSeconds(60));

    expect(second).toMatchObject({
      previousWebhookSecret: first.webhookSecret,
      previousValidUntil: atSeconds(60 + 86_400).toISOString(),
    });
    expect(second.webhookSecret).not.toBe(first.webhookSecret);
  });
});

describe('the limits of an account', () => {
  const aKey = async (accountId = ACCOUNT_ID) => {
    const limits = { requestsPerSecond: 50, burst: 100 };
    const { text } = await insertApiKey(accountId, { scopes: [], label: '', limits }, NOW);
    const parsed = parseKey(text);
    if (!parsed) throw new Error('The key is malformed.');
    return parsed;
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
      expect(Object.keys(key ?? {})).not.toEqual(expect.arrayContaining(['tat']));
      expect(Object.keys(key ?? {})).not.toEqual(expect.arrayContaining(['allowAt']));
    }
    expect(memory.get(apiKeyKey(other.keyId))).toEqual(before);
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
