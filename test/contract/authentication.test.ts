import { beforeAll, describe, expect, test } from '@jest/globals';
import { type ErrorBody, refusal } from './support/answers.ts';
import { itemsNaming } from './support/aws.ts';
import {
  anUndrawnGeneration,
  type Caller,
  callerWith,
  newCaller,
  send,
  sharedService,
} from './support/client.ts';
import { ops } from './support/local-service.ts';

let caller: Caller;
beforeAll(async () => {
  caller = await newCaller(await sharedService());
});

const SCOPES = [
  'generations:write',
  'generations:read',
  'end-users:write',
  'end-users:read',
  'balance:read',
  'models:read',
];

/** Every endpoint with the scope it requires and its status for a key with that scope. */
const ENDPOINTS: [method: string, path: string, scope: string, status: number][] = [
  ['POST', '/v1/generations', 'generations:write', 202],
  ['GET', '/v1/generations/img_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'generations:read', 404],
  ['GET', '/v1/models', 'models:read', 200],
  ['GET', '/v1/balance', 'balance:read', 200],
  ['GET', '/v1/balance/history', 'balance:read', 200],
];

const call = (method: string, path: string, authorization?: string) =>
  send<ErrorBody>(caller.service, method, path, {
    headers: authorization === undefined ? {} : { authorization },
    ...(method === 'POST' ? { body: anUndrawnGeneration() } : {}),
  });

const issue = (scopes: string[]) =>
  ops<{ keyId: string; key: string }>(
    caller.service,
    ...['keys', 'create', '--account', caller.accountId, '--scopes', scopes.join(',')],
  );

/** The key with the last character of its checksum replaced. */
const withWrongChecksum = (key: string) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
/** The key with a character of its secret replaced, so its checksum is wrong. */
const withWrongSecret = (key: string) =>
  key.slice(0, -10) + (key.at(-10) === '0' ? '1' : '0') + key.slice(-9);

describe('A request without a valid key is refused with 401 unauthorized', () => {
  test.each(ENDPOINTS)('%s %s', async (method, path) => {
    expect(refusal(await call(method, path))).toEqual([401, 'unauthorized']);
  });

  test.each([
    ['an empty header', () => ''],
    ['no key', () => 'Bearer'],
    ['only the key', () => caller.key],
    ['another scheme', () => `Basic ${caller.key}`],
    ['two keys', () => `Bearer ${caller.key} ${caller.key}`],
    ['a string that is not a key', () => 'Bearer secret'],
    ['a truncated key', () => `Bearer ${caller.key.slice(0, -1)}`],
    ['a key followed by another character', () => `Bearer ${caller.key}0`],
    ['a wrong checksum', () => `Bearer ${withWrongChecksum(caller.key)}`],
    ['a wrong secret', () => `Bearer ${withWrongSecret(caller.key)}`],
    ['a key in capitals', () => `Bearer ${caller.key.toUpperCase()}`],
  ])('%s', async (_what, authorization) => {
    expect(refusal(await call('GET', '/v1/balance', authorization()))).toEqual([401, 'unauthorized']);
  });

  test('before anything else is checked', async () => {
    const answers = [
      await send(caller.service, 'POST', '/v1/generations', { body: 'no JSON' }),
      await send(caller.service, 'GET', '/v1/balance/history?page=0'),
      await send(caller.service, 'GET', '/v1/generations/latest'),
    ];

    expect(answers.map(refusal)).toEqual(Array(3).fill([401, 'unauthorized']));
  });

  test('a revoked key, from the next request on', async () => {
    const { key, keyId } = await issue(SCOPES);
    expect((await call('GET', '/v1/balance', `Bearer ${key}`)).status).toBe(200);

    await ops(caller.service, 'keys', 'revoke', '--key-id', keyId);

    for (const [method, path] of ENDPOINTS) {
      expect(refusal(await call(method, path, `Bearer ${key}`))).toEqual([401, 'unauthorized']);
    }
    expect((await caller.get('/v1/balance')).status).toBe(200);
  });
});

describe('A key without the scope an endpoint needs is refused with 403 forbidden', () => {
  test.each([...new Set(ENDPOINTS.map(([, , scope]) => scope))])('%s', async (missing) => {
    const { key } = await issue(SCOPES.filter((scope) => scope !== missing));

    for (const [method, path, scope, status] of ENDPOINTS) {
      const answer = await call(method, path, `Bearer ${key}`);
      if (scope === missing) expect(refusal(answer)).toEqual([403, 'forbidden']);
      else expect(answer.status).toBe(status);
    }
  });

  test('before its body and query are checked', async () => {
    const { key } = await issue(['models:read']);
    const limited = callerWith(caller.service, caller.accountId, key);

    expect(refusal(await limited.post('/v1/generations', 'no JSON'))).toEqual([403, 'forbidden']);
    expect(refusal(await limited.get('/v1/balance/history?page=0'))).toEqual([403, 'forbidden']);
  });
});

test('A new key may use every endpoint', async () => {
  for (const [method, path, , status] of ENDPOINTS) {
    expect((await call(method, path, `Bearer ${caller.key}`)).status).toBe(status);
  }
});

test('A key has the documented format and is stored nowhere', async () => {
  const { key } = await issue(SCOPES);

  expect(key).toMatch(new RegExp(`^gsk_${caller.accountId}_[0-9A-Za-z]+$`));
  expect(await itemsNaming(caller.service, key)).toEqual([]);
});
