import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { newKey, revokeApiKey } from '../../../core/accounts/api-keys.ts';
import { ValidationError } from '../../../core/errors.ts';
import { logger } from '../../../core/observability.ts';
import { accountKey, apiKeyKey } from '../../../core/table/keys.ts';
import { apiHandler, json } from '../../../functions/http/api-handler.ts';
import { authorize, authorizedFirst, identifyCaller } from '../../../functions/http/authorize.ts';
import { aLambdaContext, anApiEvent, read } from '../builders/api-events.ts';
import { aCaller } from '../builders/callers.ts';
import { NOW } from '../builders/clocks.ts';
import { ACCOUNT_ID, anAccount } from '../builders/entities.ts';
import { stopTime } from '../builders/stop-time.ts';
import { memory } from '../fakes/fresh-table.ts';

const load = jest.fn(async (accountId: string) => `loaded for ${accountId}`);
beforeEach(() => {
  load.mockReset();
  load.mockImplementation(async (accountId) => `loaded for ${accountId}`);
  stopTime(NOW);
});

/** A route that needs `balance:read`. */
const route = apiHandler(async (request) => {
  const caller = identifyCaller(request);
  const [account, loaded] = await authorizedFirst(
    authorize(caller, 'balance:read', request.now),
    load(caller.accountId),
  );
  return json(200, { name: account.name, loaded });
});
const call = async (headers: Record<string, string>) =>
  read(await route(anApiEvent({ headers }), aLambdaContext()));
const UNAUTHORIZED = {
  error: {
    code: 'unauthorized',
    message: 'A valid API key is required: Authorization: Bearer <API_KEY>.',
  },
};

describe('a caller', () => {
  test('with a key is authorized, and the read runs for their account', async () => {
    const { headers, keyId } = await aCaller(memory, { scopes: ['balance:read'] });

    expect(await call(headers)).toMatchObject({
      status: 200,
      body: { name: 'demo', loaded: `loaded for ${ACCOUNT_ID}` },
    });
    expect(memory.get(apiKeyKey(keyId))).toMatchObject({ lastUsedAt: NOW.toISOString() });
  });

  test('may write header name and scheme in any case', async () => {
    const { headers } = await aCaller(memory);
    const [, key] = String(headers.Authorization).split(' ');

    expect((await call({ authorization: `bearer  ${key}` })).status).toBe(200);
  });

  test.each<[string, (key: string) => Record<string, string>]>([
    ['no header', () => ({})],
    ['an empty header', () => ({ Authorization: '' })],
    ['no key', () => ({ Authorization: 'Bearer ' })],
    ['another scheme', (key) => ({ Authorization: `Basic ${key}` })],
    ['the bare key', (key) => ({ Authorization: key })],
    ['something behind the key', (key) => ({ Authorization: `Bearer ${key} x` })],
    ['a mistyped key', (key) => ({ Authorization: `Bearer ${key.slice(0, -1)}!` })],
    ['the key in another header', (key) => ({ 'X-Api-Key': key })],
  ])('with %s is refused without any call', async (_, headers) => {
    const caller = await aCaller(memory);
    memory.client.resetHistory();

    const { status, body } = await call(headers(String(caller.headers.Authorization).slice(7)));

    expect([status, body]).toEqual([401, UNAUTHORIZED]);
    expect(memory.calls()).toEqual({});
    expect(load).not.toHaveBeenCalled();
  });

  test('with a well-formed key that is unknown is refused', async () => {
    const { headers } = await aCaller(memory);
    memory.reset();

    expect(await call(headers)).toMatchObject({ status: 401, body: UNAUTHORIZED });
  });

  test('with a revoked key is refused from the next request on', async () => {
    const { headers, keyId } = await aCaller(memory);
    expect((await call(headers)).status).toBe(200);
    await revokeApiKey(keyId, NOW);

    expect(await call(headers)).toMatchObject({ status: 401, body: UNAUTHORIZED });
  });

  test('with a key whose account is missing or differs from the one it was issued for is refused', async () => {
    const { headers, keyId } = await aCaller(memory);
    memory.patch(apiKeyKey(keyId), { accountId: 'acc_01JD4KXQ8M0000000000000009' });
    expect(await call(headers)).toMatchObject({ status: 401, body: UNAUTHORIZED });

    const other = await aCaller(memory);
    memory.remove(accountKey(ACCOUNT_ID));
    expect(await call(other.headers)).toMatchObject({ status: 401, body: UNAUTHORIZED });
  });
});

describe('refusals', () => {
  test('come in the order: key, account, scope, rate, and only then what the read throws', async () => {
    const { headers, keyId } = await aCaller(memory, {
      account: { blockedAt: NOW.toISOString() },
      scopes: [],
      burst: 1,
    });
    await call(headers);
    await revokeApiKey(keyId, NOW);
    load.mockRejectedValue(new ValidationError({ page: 'wrong' }));
    const codes: string[] = [];
    const note = async () => codes.push((await call(headers)).body.error.code);

    await note();
    memory.put(apiKeyKey(keyId), { ...memory.get(apiKeyKey(keyId)), revokedAt: undefined });
    await note();
    memory.put(accountKey(ACCOUNT_ID), anAccount());
    await note();
    memory.patch(apiKeyKey(keyId), { scopes: ['balance:read'] });
    await note();
    stopTime(new Date(NOW.getTime() + 1000));
    await note();

    expect(codes).toEqual([
      'unauthorized',
      'account_blocked',
      'forbidden',
      'rate_limited',
      'validation_error',
    ]);
  });

  test('for the rate carry Retry-After', async () => {
    const { headers } = await aCaller(memory, { requestsPerSecond: 0.1, burst: 1 });
    await call(headers);

    expect(await call(headers)).toMatchObject({
      status: 429,
      headers: { 'Retry-After': '10', 'X-Request-Id': 'http-request-1' },
      body: { error: { code: 'rate_limited' } },
    });
  });

  test('hide what the read throws, even a bug', async () => {
    const { headers } = await aCaller(memory, { scopes: [] });
    load.mockRejectedValue(new TypeError('bug'));

    expect((await call(headers)).status).toBe(403);
  });

  test('are not used for a table that does not answer: that is 500', async () => {
    const { headers } = await aCaller(memory);
    memory.client.rejects(new Error('no table'));

    expect(await call(headers)).toMatchObject({ status: 500, body: { error: { code: 'internal_error' } } });
  });
});

describe('log lines', () => {
  const named = jest.spyOn(logger, 'appendKeys');
  beforeEach(() => {
    named.mockClear();
  });
  const names = () => Object.assign({}, ...named.mock.calls.map(([keys]) => keys));

  test('name the account and the key once they are verified, also when the caller is then refused', async () => {
    const { headers, keyId } = await aCaller(memory, { scopes: [] });
    await call(headers);

    expect(names()).toMatchObject({ accountId: ACCOUNT_ID, keyId });
  });

  test('name neither for a forged key', async () => {
    await aCaller(memory);
    await call({ Authorization: `Bearer ${newKey(ACCOUNT_ID).text}` });

    expect(Object.keys(names()).sort()).toEqual(['httpRequestId', 'route']);
  });
});

test('key, account and the read of the route start in parallel', async () => {
  const { headers } = await aCaller(memory);
  memory.client.resetHistory();
  let calls: Record<string, number> = {};
  load.mockImplementation(async () => {
    calls = memory.calls();
    return '';
  });
  await call(headers);

  expect(calls).toEqual({ UpdateCommand: 1, GetCommand: 1 });
});
