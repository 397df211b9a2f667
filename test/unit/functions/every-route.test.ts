import { beforeEach, describe, expect, test } from '@jest/globals';
import { newKey, revokeApiKey, SCOPES, type Scope } from '../../../core/accounts/api-keys.ts';
import { type EndpointName, ROUTES } from '../../../core/routes.ts';
import { endUserKey, endUserListing, ledgerEntryKey, requestKey } from '../../../core/table/keys.ts';
import { type CallerEndpoint, OPERATIONS } from '../../../functions/openapi/operations.ts';
import { ROUTES as DOCUMENTED } from '../../contract/support/routes.ts';
import { aLambdaContext, anApiEvent, read } from '../builders/api-events.ts';
import { aGenerationBody, aVideoBody } from '../builders/bodies.ts';
import { aCaller } from '../builders/callers.ts';
import { NOW } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  aLedgerEntry,
  anEndUser,
  anImageRequest,
  aVideoRequest,
  EMAIL,
  putEndUser,
  putRequest,
  REQUEST_ID,
  VIDEO_ID,
} from '../builders/entities.ts';
import {
  type ApiEvent,
  CALLER_ROUTES,
  type CallerOptions,
  loadHandlers,
  RouteWorld,
} from '../builders/route-world.ts';

const world = new RouteWorld();
const { memory } = world;
const handlerOf = await loadHandlers();

const ENDED = {
  status: 'failed' as const,
  finishedAt: NOW.toISOString(),
  error: { code: 'provider_error' as const, message: 'no' },
};
beforeEach(() => {
  world.reset();
  // The account that a forged key names has much for an unguarded read to find.
  for (let number = 1; number <= 60; number++) {
    const createdAt = new Date(NOW.getTime() + number).toISOString();
    const email = `user-${number}@example.com`;
    memory.put(endUserKey(ACCOUNT_ID, email), {
      ...anEndUser({ email }),
      ...endUserListing(ACCOUNT_ID, createdAt),
    });
    memory.put(ledgerEntryKey(ACCOUNT_ID, number), aLedgerEntry(number));
  }
  putEndUser(memory, anEndUser({ activeRequests: 0 }));
  putRequest(memory, anImageRequest(ENDED));
  putRequest(memory, aVideoRequest(ENDED));
});

/** A request that does the most work on each route when nothing refuses it. */
const MOST_WORK: Partial<Record<EndpointName, ApiEvent>> = {
  'list-end-users': { query: { page: ['1000000'], email: ['user'] } },
  'list-generations': { query: { page: ['1000000'], endUserEmail: [EMAIL] } },
  'list-videos': { query: { page: ['1000000'], model: ['xW3.0s'] } },
  'list-balance-history': { query: { page: ['3'] } },
  'get-usage': { query: { from: ['2026-11-01'], to: ['2026-12-01'], by: ['day,model,endUser,key'] } },
  'create-generation': { body: aGenerationBody() },
  'create-video': { body: aVideoBody() },
  'create-quote': { body: { kind: 'image', ...aGenerationBody() } },
  'bulk-delete-generations': { body: { requestIds: [REQUEST_ID, VIDEO_ID] } },
  'put-end-user-budget': { body: { perDay: 10 } },
  'create-upload': { body: { contentType: 'image/png', bytes: 10 } },
};
const REQUIRED_QUERY: Partial<Record<EndpointName, ApiEvent['query']>> = {
  'get-usage': { from: ['2026-11-01'], to: ['2026-12-01'] },
};
/** Single items that a route reads while the key is looked up. */
const READS_BESIDE: Partial<Record<EndpointName, number>> = { 'get-generation': 1, 'get-video': 2 };

const send = async (name: EndpointName, headers: Record<string, string>, event: ApiEvent = {}) => {
  const pathParameters = { email: EMAIL, requestId: name === 'get-video' ? VIDEO_ID : REQUEST_ID };
  memory.client.resetHistory();
  const whole = { resource: name, headers, pathParameters, ...MOST_WORK[name], ...event };
  return read(await handlerOf(name)(anApiEvent(whole), aLambdaContext()));
};
const scopeOf = (name: EndpointName): Scope => OPERATIONS[name as CallerEndpoint].scope;
const aForgedKey = (accountId: string) => ({ Authorization: `Bearer ${newKey(accountId).text}` });

/** Every way in which a caller is refused after the text of the key has been found well-formed. */
const REFUSED: {
  what: string;
  answer: [status: number, code: string];
  options?: (name: EndpointName) => CallerOptions;
  /** Acts before the call; may replace the caller's headers. */
  given?: (keyId: string) => unknown;
}[] = [
  {
    what: 'a forged key of a stranger',
    answer: [401, 'unauthorized'],
    given: () => aForgedKey(ACCOUNT_ID),
  },
  {
    what: 'a forged key of no account',
    answer: [401, 'unauthorized'],
    given: () => aForgedKey('acc_01JD4KXQ8M0000000000000009'),
  },
  {
    what: 'a revoked key',
    answer: [401, 'unauthorized'],
    given: async (keyId) => void (await revokeApiKey(keyId, NOW)),
  },
  {
    what: 'a blocked account',
    answer: [401, 'account_blocked'],
    options: () => ({ account: { blockedAt: NOW.toISOString() } }),
  },
  {
    what: 'every scope but its own',
    answer: [403, 'forbidden'],
    options: (name) => ({ scopes: SCOPES.filter((scope) => scope !== scopeOf(name)) }),
  },
  { what: 'no calls left', answer: [429, 'rate_limited'], options: () => ({ isExhausted: true }) },
];

test('the documented routes are those of the service', () => {
  const texts = (routes: readonly { method: string; path: string }[]) =>
    routes.map(({ method, path }) => `${method} ${path}`).sort();

  expect(texts(DOCUMENTED)).toEqual(texts(CALLER_ROUTES.map((name) => ROUTES[name])));
});

describe.each(CALLER_ROUTES)('%s', (name) => {
  test.each(REFUSED)('sets off the same single-item calls for $what', async ({ answer, options, given }) => {
    const { keyId, headers } = await aCaller(memory, options?.(name));
    const own = (await given?.(keyId)) as Record<string, string> | undefined;
    const { status, body } = await send(name, own ?? headers);

    expect([status, body.error.code]).toEqual(answer);
    expect(memory.calls()).toEqual({ UpdateCommand: 1, GetCommand: 1 + (READS_BESIDE[name] ?? 0) });
  });

  test('sets off no call for a key whose checksum is wrong', async () => {
    const text = newKey(ACCOUNT_ID).text;
    const last = text.endsWith('0') ? '1' : '0';

    expect((await send(name, { Authorization: `Bearer ${text.slice(0, -1)}${last}` })).status).toBe(401);
    expect(memory.calls()).toEqual({});
  });

  test('answers a caller with its scope alone', async () => {
    const { headers } = await aCaller(memory, { scopes: [scopeOf(name)], account: { ledgerEntries: 60 } });

    expect([200, 201, 202]).toContain((await send(name, headers)).status);
  });

  test.each(['cursor', '__proto__', 'constructor'])(
    'refuses the query parameter %s, and does nothing',
    async (parameter) => {
      const { headers } = await aCaller(memory);
      const before = memory.get(requestKey(REQUEST_ID));

      for (const values of [['1'], ['1', '2']]) {
        const own = JSON.parse(`{ "${parameter}": ${JSON.stringify(values)} }`);
        const query = { ...REQUIRED_QUERY[name], ...own };
        const { status, body } = await send(name, headers, { query });
        expect([status, Object.entries(body.error.fields)]).toEqual([
          400,
          [[parameter, values.length > 1 ? 'is given more than once' : 'is not a known field']],
        ]);
      }
      expect([memory.get(requestKey(REQUEST_ID)), memory.transactions]).toEqual([before, []]);
    },
  );
});

describe.each(CALLER_ROUTES.filter((name) => ROUTES[name].path.includes('{')))('the path of %s', (name) => {
  test.each(['%', 'a%', '%zz', '%E0%A4%A', '%c3%28@example.com'])(
    'is refused after authorization when it ends in %s',
    async (value) => {
      const pathParameters = { requestId: value, email: value };
      const { headers } = await aCaller(memory);
      const parameter = ROUTES[name].path.includes('{email}') ? 'email' : 'requestId';

      expect((await send(name, {}, { pathParameters })).status).toBe(401);
      expect(await send(name, headers, { pathParameters })).toMatchObject({
        status: 400,
        body: { error: { fields: { [parameter]: 'is not URL-encoded UTF-8' } } },
      });
    },
  );
});

test.each(CALLER_ROUTES.filter((name) => ROUTES[name].path.includes('{email}')))(
  '%s answers 404 to an unknown end-user, and 400 to an invalid address',
  async (name) => {
    const { headers } = await aCaller(memory);
    const answerTo = async (email: string) => send(name, headers, { pathParameters: { email } });

    expect(await answerTo('nobody%40example.com')).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    });
    expect(await answerTo('nobody')).toMatchObject({
      status: 400,
      body: { error: { fields: { email: 'must be an email address' } } },
    });
  },
);
