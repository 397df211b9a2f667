import { describe, expect, test } from '@jest/globals';
import { type GenerationClient, NotFoundError } from '../src/index.ts';
import { accepted, BODY, errorOf, QUEUED, startServer } from './a-client.ts';
import { type Behavior, cut, hangUp, json, refuse } from './server.ts';

const { server, aClient, keysSeen } = await startServer();

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

  test('has the headers that are given, beside its own, which win', async () => {
    const headers = { 'X-Tenant': 'a', authorization: 'Bearer other', 'x-none': undefined };
    server.answer(accepted, json(200, { items: [], hasMore: false }));
    await aClient().createImage(BODY, { headers, idempotencyKey: 'order-17' });
    await aClient().listImages({ headers, status: 'queued' });

    const [created, listed] = server.seen;
    expect(created?.headers).toMatchObject({
      ...{ 'x-tenant': 'a', authorization: 'Bearer gsk_test', 'idempotency-key': 'order-17' },
    });
    expect(created?.headers).not.toHaveProperty('x-none');
    expect(listed).toMatchObject({
      path: '/v1/generations?status=queued&page=1',
      headers: { 'x-tenant': 'a' },
    });
  });

  test('is sent by the defaults where an option is undefined', async () => {
    const options = { fetch: undefined, maxRetries: undefined, attemptSeconds: undefined };
    server.answer(refuse(500, 'internal_error'), json(200, {}));

    await aClient(options as object).getBalance();
    expect(server.seen).toHaveLength(2);
  });

  test('has no limit where an attempt may take longer than any timer', async () => {
    server.answer(json(200, {}));

    await aClient({ attemptSeconds: Number.POSITIVE_INFINITY }).getBalance();
    expect(server.seen).toHaveLength(1);
  });

  test('with a key that no header can carry is not sent, and no ConnectionError', async () => {
    server.answer(accepted);

    await expect(aClient().createImage(BODY, { idempotencyKey: '日本' })).rejects.toMatchObject({
      name: 'TypeError',
    });
    expect(server.seen).toHaveLength(0);
  });

  test.each(['', '.', '..'])('for the request "%s" is not sent: it would be another call', async (id) => {
    const client = aClient();
    for (const call of [
      () => client.getImage(id),
      () => client.getVideo(id),
      () => client.deleteRequest(id),
      () => client.waitFor({ requestId: id }),
      () => client.blockEndUser(id),
      () => client.deleteEndUser(id),
    ])
      await expect(call()).rejects.toThrow(TypeError);
    expect(server.seen).toHaveLength(0);
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
    ['getBalance', (client) => client.getBalance({ include: 'account' }), 'GET /v1/balance?include=account'],
    ['blockEndUser', (client) => client.blockEndUser('a@b.c'), 'POST /v1/end-users/a%40b.c/block'],
    ['unblockEndUser', (client) => client.unblockEndUser('a@b.c'), 'POST /v1/end-users/a%40b.c/unblock'],
    ['getBudget', (client) => client.getBudget('a@b.c'), 'GET /v1/end-users/a%40b.c/budget'],
    ['setBudget', (client) => client.setBudget('a@b.c', {}), 'PUT /v1/end-users/a%40b.c/budget'],
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
    [
      'getUsage',
      (client) => client.getUsage({ from: '2026-11-01', to: '2026-12-01', by: ['day', 'model'] }),
      'GET /v1/usage?from=2026-11-01&to=2026-12-01&by=day%2Cmodel',
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

test('With answers cut after the service has written, 60 creations are 60 debits', async () => {
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

  await Promise.all(Array.from({ length: 60 }, () => client.createImage(BODY)));

  expect(written.size).toBe(60);
  expect(sent).toBeGreaterThan(150);
});
