import { beforeAll, describe, expect, test } from '@jest/globals';
import { refusal } from './support/answers.ts';
import { itemsNaming } from './support/aws.ts';
import {
  accepted,
  aGeneration,
  anUndrawnGeneration,
  type Caller,
  newCaller,
  send,
  settled,
  sharedService,
  withScopes,
} from './support/client.ts';
import { fetchFile } from './support/files.ts';
import { history } from './support/ledger.ts';
import { type LocalService, ops } from './support/local-service.ts';
import { succeeded } from './support/resources.ts';
import { filled } from './support/routes.ts';

let service: LocalService;
beforeAll(async () => {
  service = await sharedService();
});

// That each route refuses such callers is tested in test/unit/functions/every-route.test.ts.
/** A route that reads, and one that creates. */
const READ = { method: 'GET', path: '/v1/models', scope: 'models:read' };
const CREATE = { method: 'POST', path: '/v1/generations', scope: 'generations:write' };
const ROUTES = [READ, CREATE];

const call = ({ method, path }: (typeof ROUTES)[number], { key }: Caller) =>
  send(service, method, path, {
    headers: { authorization: `Bearer ${key}` },
    ...(method === 'POST' ? { body: anUndrawnGeneration() } : {}),
  });
const account = <T>(verb: string, { accountId }: Caller) =>
  ops<T>(service, 'accounts', verb, '--account', accountId);

describe('A blocked account', () => {
  let caller: Caller;
  let pictureUrl: string | undefined;
  let unfinishedId: string;
  let blocked: { accountId: string; blockedAt: string };
  beforeAll(async () => {
    caller = await newCaller(service);
    pictureUrl = (await succeeded(caller)).images?.[0]?.url;
    const prompt = `[delay=2] a picture ${Math.random()}`;
    unfinishedId = (await accepted(caller, aGeneration({ size: '512x512', prompt }))).requestId;
    blocked = await account('block', caller);
  });

  test.each(ROUTES)('is refused with 401 account_blocked on $method $path', async (route) => {
    expect(refusal(await call(route, caller))).toEqual([401, 'account_blocked']);
  });

  test('is shown as blocked to operators, and can be blocked again', async () => {
    expect(blocked).toEqual({ accountId: caller.accountId, blockedAt: expect.stringMatching(/Z$/) });
    expect(await account('show', caller)).toMatchObject({ blockedAt: blocked.blockedAt });
    expect(await account('block', caller)).toMatchObject({ blockedAt: expect.stringMatching(/Z$/) });
  });

  test('keeps its signed file URLs, and other accounts are not affected', async () => {
    expect((await fetchFile(pictureUrl)).status).toBe(200);
    expect((await (await newCaller(service, 0)).get('/v1/balance')).status).toBe(200);
  });

  test('keeps its work while blocked, and can read it once unblocked', async () => {
    expect(await account('unblock', caller)).toEqual({ accountId: caller.accountId, blockedAt: null });

    expect((await settled(caller, unfinishedId)).status).toBe('succeeded');
    expect(await history(caller)).toHaveLength(3);
    const statuses = await Promise.all(ROUTES.map(async (route) => (await call(route, caller)).status));
    expect(statuses).toEqual([200, 202]);
  });
});

test.each(ROUTES)(
  'A key with the scope $scope opens the routes that require it, and no others',
  async (route) => {
    const limited = await withScopes(await newCaller(service), route.scope);

    for (const { scope, ...other } of ROUTES) {
      const answer = await call({ scope, ...other }, limited);
      if (scope === route.scope) expect(answer.status).toBeLessThan(300);
      else expect(refusal(answer)).toEqual([403, 'forbidden']);
    }
  },
);

test('A revoked key is refused on every route from the next request on', async () => {
  const caller = await newCaller(service);
  const second = await withScopes(caller, 'balance:read', ...ROUTES.map(({ scope }) => scope));
  expect((await second.get('/v1/balance')).status).toBe(200);

  await ops(service, 'keys', 'revoke', '--key-id', second.keyId);

  for (const route of ROUTES) expect(refusal(await call(route, second))).toEqual([401, 'unauthorized']);
  expect((await caller.get('/v1/balance')).status).toBe(200);
});

test.each<{ method: string; path: string }>([
  READ,
  CREATE,
  { method: 'GET', path: '/v1/generations/{requestId}' },
])(
  'Without a key $method $path is 401 unauthorized, even if the request is invalid in other ways',
  async ({ method, path }) => {
    const body = method === 'POST' ? { body: 'no JSON' } : {};
    const answer = await send(service, method, `${filled(path, '%E0%A4%A')}?x=1`, body);

    expect(refusal(answer)).toEqual([401, 'unauthorized']);
  },
);

test('A key has the documented format, is stored nowhere, and is refused when it is altered', async () => {
  const { accountId, key } = await newCaller(service, 0);
  const withWrong = (place: number) =>
    key.slice(0, -place) + (key.at(-place) === '0' ? '1' : '0') + (place > 1 ? key.slice(1 - place) : '');

  expect(key).toMatch(new RegExp(`^gsk_${accountId}_[0-9A-Za-z]+$`));
  expect(await itemsNaming(service, key)).toEqual([]);
  // Every form that a header can have is tested in test/unit/functions/authorize-key.test.ts.
  for (const authorization of ['', `Basic ${key}`, `Bearer ${withWrong(1)}`, `Bearer ${withWrong(10)}`]) {
    const answer = await send(service, 'GET', '/v1/balance', { headers: { authorization } });
    expect(refusal(answer)).toEqual([401, 'unauthorized']);
  }
});
