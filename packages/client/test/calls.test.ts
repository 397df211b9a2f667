import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  AbortedError,
  type ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  ContentPolicyError,
  ForbiddenError,
  GenerationClient,
  GenerationServiceError,
  NotFoundError,
  PaymentRequiredError,
  RateLimitedError,
  ServerError,
  TemporarilyUnavailableError,
  TimeoutError,
  ValidationError,
} from '../src/index.ts';
import { type Behavior, cut, FaultyServer, hang, hangUp, json, refuse } from './server.ts';
import { restoreTimers, watchTimers } from './timers.ts';

const server = await new FaultyServer().start();
afterAll(() => server.close());

const BODY = { model: 'xZI1.0Pro', prompt: 'a lighthouse', endUserEmail: 'ada@example.com' };
const QUEUED = { requestId: 'img_1', status: 'queued', referencesCount: 0 };
const accepted = json(202, QUEUED);

/** A client whose pauses are short: the random part of a back-off is 0. */
const aClient = (options: Partial<ConstructorParameters<typeof GenerationClient>[0]> = {}) =>
  new GenerationClient({ baseUrl: `${server.url}/`, apiKey: 'gsk_test', ...options });

const random = Math.random;
beforeEach(() => {
  Math.random = () => 0;
});
afterEach(() => restoreTimers());
afterAll(() => {
  Math.random = random;
});

const errorOf = async (call: PromiseLike<unknown>): Promise<GenerationServiceError> => {
  try {
    await call;
  } catch (error) {
    if (error instanceof GenerationServiceError) return error;
    throw error;
  }
  throw new Error('The call did not fail.');
};
const keysSeen = () => server.seen.map(({ headers }) => headers['idempotency-key']);

describe('a call', () => {
  test('has the key, the body and an idempotency key of its own, and goes to the base URL', async () => {
    server.answer(accepted);
    await aClient().createImage(BODY);
    await aClient().createImage(BODY);

    expect(server.seen[0]).toMatchObject({ method: 'POST', path: '/v1/generations' });
    expect(server.seen[0]?.headers).toMatchObject({
      authorization: 'Bearer gsk_test',
      'content-type': 'application/json',
    });
    expect(JSON.parse(server.seen[0]?.body ?? '')).toEqual(BODY);
    expect(new Set(keysSeen()).size).toBe(2);
    for (const key of keysSeen()) expect(key).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('sends the key that is given', async () => {
    server.answer(accepted);
    await aClient().createVideo(BODY, { idempotencyKey: 'order-17' });

    expect(keysSeen()).toEqual(['order-17']);

    await aClient().createVideo(BODY, { idempotencyKey: '' });
    expect(keysSeen()[1]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('follows no redirect: the API key goes nowhere else', async () => {
    server.answer(json(302, {}, { location: 'https://example.com/' }));

    expect(await errorOf(aClient().getBalance())).toMatchObject({ status: 302 });
    expect(server.seen).toHaveLength(1);
  });

  test.each<[string, (client: GenerationClient) => PromiseLike<unknown>, string]>([
    ['getImage', (client) => client.getImage('img_1'), 'GET /v1/generations/img_1'],
    ['getVideo', (client) => client.getVideo('vid/1'), 'GET /v1/videos/vid%2F1'],
    ['listModels', (client) => client.listModels(), 'GET /v1/models'],
    ['getBalance', (client) => client.getBalance(), 'GET /v1/balance'],
    ['blockEndUser', (client) => client.blockEndUser('a@b.c'), 'POST /v1/end-users/a%40b.c/block'],
    ['unblockEndUser', (client) => client.unblockEndUser('a@b.c'), 'POST /v1/end-users/a%40b.c/unblock'],
    ['deleteEndUser', (client) => client.deleteEndUser('a@b.c'), 'DELETE /v1/end-users/a%40b.c'],
    ['deleteRequest', (client) => client.deleteRequest('vid_1'), 'DELETE /v1/generations/vid_1'],
    [
      'listImages',
      (client) => client.listImages({ status: 'failed', pageSize: 5, endUserEmail: 'a+b@c.d' }),
      'GET /v1/generations?pageSize=5&status=failed&endUserEmail=a%2Bb%40c.d&page=1',
    ],
    [
      'listEndUsers',
      (client) => client.listEndUsers({ blocked: true, page: 2 }),
      'GET /v1/end-users?blocked=true&page=2',
    ],
    ['listBalanceHistory', (client) => client.listBalanceHistory(), 'GET /v1/balance/history?page=1'],
  ])('%s asks the right route', async (_name, call, route) => {
    server.answer(json(200, { data: [] }));
    await call(aClient());

    const query = (path: string) => new URL(path, server.url);
    const [seen] = server.seen.map(({ method, path }) => [method, query(path)] as const);
    const [method = '', path = ''] = route.split(' ');
    expect([seen?.[0], seen?.[1].pathname]).toEqual([method, query(path).pathname]);
    expect(new Set(seen?.[1].searchParams)).toEqual(new Set(query(path).searchParams));
    expect(seen?.[1].search).not.toContain(' ');
  });
});

/** What came back before the call would succeed. */
const LOST: [string, Behavior][] = [
  ['no answer', hangUp],
  ['a cut answer', cut],
  ['half an answer that looks whole', (_seen, response) => void response.end('{"requestId":')],
  ['500 internal_error', refuse(500, 'internal_error')],
  ['500 provider_timeout', refuse(500, 'provider_timeout')],
  ['a page of a proxy', (_seen, response) => void response.writeHead(502).end('<html>')],
  ['504', (_seen, response) => void response.writeHead(504).end()],
  ['429', refuse(429, 'rate_limited', { 'retry-after': '0' })],
];

describe.each(LOST)('after %s', (_what, behavior) => {
  test('a creation is repeated with the same key and the same bytes', async () => {
    server.answer(behavior, behavior, accepted);

    expect(await aClient().createImage(BODY)).toEqual(QUEUED);
    expect(server.seen).toHaveLength(3);
    expect(new Set(keysSeen()).size).toBe(1);
    expect(new Set(server.seen.map(({ body }) => body)).size).toBe(1);
  });

  test('a read and a bulk deletion are repeated', async () => {
    server.answer(behavior, json(200, { xTokens: 1 }));
    expect(await aClient().getBalance()).toEqual({ xTokens: 1 });

    const deleted = { requested: 1, deleted: 1, removedObjects: 1, conflicts: [], notFound: [] };
    server.answer(behavior, json(200, deleted));
    expect(await aClient().deleteRequests(['img_1'])).toEqual(deleted);
  });

  test('the call fails when its repetitions are spent', async () => {
    server.answer(behavior);

    await errorOf(aClient({ maxRetries: 2 }).createImage(BODY));
    expect(server.seen).toHaveLength(3);
  });
});

describe('a deletion', () => {
  test.each(LOST.filter(([what]) => what !== '429'))(
    'whose answer was lost, by %s, is done when nothing is there',
    async (_what, behavior) => {
      server.answer(behavior, refuse(404, 'not_found'));
      expect(await aClient().deleteRequest('img_1')).toEqual({
        requestId: 'img_1',
        deleted: true,
        removedObjects: 0,
      });

      server.answer(behavior, refuse(404, 'not_found'));
      expect(await aClient().deleteEndUser('a@b.c')).toMatchObject({ deleted: true, removedRequests: 0 });
    },
  );

  test('of what was never there is refused, also after a 429', async () => {
    server.answer(refuse(429, 'rate_limited', { 'retry-after': '0' }), refuse(404, 'not_found'));

    expect(await errorOf(aClient().deleteRequest('img_1'))).toBeInstanceOf(NotFoundError);
  });

  test('of an end-user is called until it is done', async () => {
    const more = refuse(503, 'temporarily_unavailable', { 'retry-after': '0' });
    const done = { email: 'a@b.c', deleted: true, removedRequests: 7, removedObjects: 7 };
    server.answer(more, more, hangUp, more, json(200, done));

    expect(await aClient().deleteEndUser('a@b.c')).toEqual(done);
    expect(server.seen).toHaveLength(5);
  });

  test('of many requests takes 200 ids a call, each once', async () => {
    const ids = Array.from({ length: 401 }, (_, index) => `img_${index}`);
    server.answer((seen, response) => {
      const { requestIds } = JSON.parse(seen.body);
      const [conflict] = requestIds;
      const counts = { requested: requestIds.length, deleted: requestIds.length - 1, removedObjects: 1 };
      response.end(JSON.stringify({ ...counts, conflicts: [conflict], notFound: [] }));
    });

    expect(await aClient().deleteRequests([...ids, ...ids])).toEqual({
      requested: 401,
      deleted: 398,
      removedObjects: 3,
      conflicts: ['img_0', 'img_200', 'img_400'],
      notFound: [],
    });
    expect(server.seen).toHaveLength(3);
  });
});

describe('a refusal', () => {
  const REFUSALS: [number, string, new (...given: never[]) => ApiError][] = [
    [400, 'validation_error', ValidationError],
    [401, 'unauthorized', AuthenticationError],
    [401, 'account_blocked', AuthenticationError],
    [402, 'payment_required', PaymentRequiredError],
    [403, 'forbidden', ForbiddenError],
    [404, 'not_found', NotFoundError],
    [409, 'conflict', ConflictError],
    [422, 'content_policy', ContentPolicyError],
  ];
  test.each(REFUSALS)('%i %s is sent once and thrown as its own type', async (status, code, Kind) => {
    for (const call of ['createImage', 'read', 'delete'] as const) {
      server.answer(refuse(status, code));
      const client = aClient();
      const error = await errorOf(
        call === 'createImage'
          ? client.createImage(BODY)
          : call === 'read'
            ? client.getBalance()
            : client.deleteRequest('img_1'),
      );

      expect(server.seen).toHaveLength(1);
      expect(error).toBeInstanceOf(Kind);
      expect(error).toMatchObject({ status, code, requestId: 'call-1', message: `It is ${code}.` });
    }
  });

  test('names the wrong fields', async () => {
    const fields = { 'references[2]': 'must be an absolute https URL' };
    server.answer(json(400, { error: { code: 'validation_error', message: 'No.', fields } }));

    expect(await errorOf(aClient().createImage(BODY))).toMatchObject({ name: 'ValidationError', fields });
  });

  test('of a creation has its idempotency key', async () => {
    server.answer(refuse(402, 'payment_required'));

    const error = await errorOf(aClient().createImage(BODY, { idempotencyKey: 'order-17' }));

    expect(error.idempotencyKey).toBe('order-17');
  });

  test('that is not the service’s own has a status and no code', async () => {
    server.answer((_seen, response) => void response.writeHead(418).end('<html>teapot</html>'));
    const error = await errorOf(aClient().getBalance());

    expect(error).toMatchObject({ name: 'ApiError', status: 418, code: undefined, message: 'HTTP 418' });

    server.answer((_seen, response) => void response.writeHead(502).end());
    expect(await errorOf(aClient({ maxRetries: 0 }).getBalance())).toBeInstanceOf(ServerError);
  });
});

describe('a pause', () => {
  test('of 180 s before a creation is thrown at once, with its seconds', async () => {
    server.answer(refuse(503, 'temporarily_unavailable', { 'retry-after': '180' }));

    const error = await errorOf(aClient().createImage(BODY));

    expect(error).toBeInstanceOf(TemporarilyUnavailableError);
    expect(error).toMatchObject({ retryAfterSeconds: 180, code: 'temporarily_unavailable' });
    expect(server.seen).toHaveLength(1);
  });

  test('of any length before a creation is the caller’s, before a read it is kept once', async () => {
    const short = refuse(503, 'temporarily_unavailable', { 'retry-after': '0' });
    server.answer(short);
    await errorOf(aClient().createImage(BODY));
    expect(server.seen).toHaveLength(1);

    server.answer(short, json(200, { xTokens: 1 }));
    await aClient().getBalance();
    server.answer(short);
    expect(await errorOf(aClient().getBalance())).toBeInstanceOf(TemporarilyUnavailableError);
    expect(server.seen).toHaveLength(2);
  });

  test('longer than the client waits is thrown, not shortened', async () => {
    server.answer(refuse(429, 'rate_limited', { 'retry-after': '61' }));

    const error = await errorOf(aClient().getBalance());
    expect(error).toBeInstanceOf(RateLimitedError);
    expect(error).toMatchObject({
      name: 'RateLimitedError',
      retryAfterSeconds: 61,
    });
    expect(server.seen).toHaveLength(1);
  });

  test('asked for is kept in full', async () => {
    const timers = watchTimers();
    server.answer(refuse(429, 'rate_limited', { 'retry-after': '17' }), accepted);
    await aClient().createImage(BODY);

    const [pause = 0, ...others] = timers.pauses;
    expect(pause).toBeGreaterThanOrEqual(17_000);
    expect(pause).toBeLessThan(17_100);
    expect(others).toEqual([]);
  });
});

test('With answers cut after the service has written, 200 creations are 200 debits', async () => {
  const written = new Map<string, string>();
  let sent = 0;
  server.answer((seen, response) => {
    const key = String(seen.headers['idempotency-key']);
    // The debit happens, then the answer is lost two times out of three.
    if (!written.has(key)) written.set(key, `img_${written.size}`);
    sent += 1;
    if (sent % 3 === 0) accepted(seen, response);
    else if (sent % 3 === 1) hangUp(seen, response);
    else cut(seen, response);
  });
  const client = aClient({ maxRetries: 100 });

  await Promise.all(Array.from({ length: 200 }, () => client.createImage(BODY)));

  expect(written.size).toBe(200);
  expect(sent).toBeGreaterThan(500);
});

describe('an attempt that takes too long', () => {
  test('is ended and repeated, and at last a TimeoutError with the key', async () => {
    server.answer(hang, accepted);
    await aClient({ attemptSeconds: 0.05 }).createImage(BODY);
    expect(new Set(keysSeen()).size).toBe(1);

    server.answer(hang);
    const error = await errorOf(aClient({ attemptSeconds: 0.05, maxRetries: 1 }).createImage(BODY));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error.idempotencyKey).toBe(keysSeen()[0]);
    expect(server.seen).toHaveLength(2);
  });
});

/** A signal that counts its listeners. */
const aSignal = () => {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...given: Parameters<typeof addEventListener>) => {
    listeners += 1;
    return addEventListener.apply(signal, given);
  };
  signal.removeEventListener = (...given: Parameters<typeof removeEventListener>) => {
    listeners -= 1;
    return removeEventListener.apply(signal, given);
  };
  return { controller, signal, listeners: () => listeners };
};

describe('an abort', () => {
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve));
  };

  test.each<[string, Behavior]>([
    ['a fetch', hang],
    ['a back-off', refuse(429, 'rate_limited', { 'retry-after': '30' })],
  ])('during %s ends a creation at once, which keeps its key', async (_when, behavior) => {
    const timers = watchTimers({ quick: false });
    const { controller, signal } = aSignal();
    server.answer(behavior);
    const call = errorOf(aClient().createImage(BODY, { signal }));
    await until(() => (behavior === hang ? server.seen : timers.pauses).length === 1);
    const reason = new Error('enough');
    controller.abort(reason);
    const error = await call;

    expect(error).toBeInstanceOf(AbortedError);
    expect(error.cause).toBe(reason);
    expect(error.idempotencyKey).toBe(keysSeen()[0]);
    expect(server.seen).toHaveLength(1);
    expect(timers.open()).toBe(0);
  });

  test('during the pause of a wait ends it at once', async () => {
    const timers = watchTimers({ quick: false });
    const { controller, signal } = aSignal();
    server.answer(json(200, { requestId: 'img_1', status: 'processing' }));
    const call = errorOf(aClient().waitFor({ requestId: 'img_1' }, { signal, intervalSeconds: 600 }));
    await until(() => timers.pauses.length === 1);
    controller.abort();

    expect(await call).toBeInstanceOf(AbortedError);
    expect(timers.open()).toBe(0);
  });

  test('before the call sends nothing', async () => {
    server.answer(accepted);

    expect(await errorOf(aClient().createImage(BODY, { signal: AbortSignal.abort() }))).toBeInstanceOf(
      AbortedError,
    );
    expect(server.seen).toHaveLength(0);
  });

  test('that never comes leaves no listener behind', async () => {
    const { signal, listeners } = aSignal();
    server.answer(hangUp, refuse(429, 'rate_limited', { 'retry-after': '0' }), accepted);
    await aClient().createImage(BODY, { signal });
    server.answer(json(200, { status: 'processing' }), json(200, { status: 'succeeded' }));
    await aClient().waitFor({ requestId: 'img_1' }, { signal, intervalSeconds: 0 });

    expect(listeners()).toBe(0);
  });
});

test('A service that cannot be reached is a ConnectionError with its cause', async () => {
  const error = await errorOf(aClient({ baseUrl: 'http://127.0.0.1:1', maxRetries: 1 }).createImage(BODY));

  expect(error).toBeInstanceOf(ConnectionError);
  expect(error.cause).toMatchObject({ name: 'TypeError' });
  expect(error.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
});
