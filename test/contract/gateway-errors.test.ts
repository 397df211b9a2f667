import { describe, expect, test } from '@jest/globals';
import { refusal, wrongFields } from './support/answers.ts';
import { send } from './support/client.ts';
import { filled, ROUTES } from './support/routes.ts';
import { useCaller } from './support/use-caller.ts';

/** The methods `fetch` can send. Without HEAD, whose answers have no body. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const PATHS = [...new Set(ROUTES.map(({ path }) => path))];
const methodsOf = (path: string): string[] =>
  ROUTES.filter((route) => route.path === path).map(({ method }) => method);

const caller = useCaller(0);

const request = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  send(caller.service, method, path, {
    headers: { authorization: `Bearer ${caller.key}`, ...headers },
    body,
  });

// That each path takes every method is tested in test/infra/http-api.test.ts, the answer in test/unit/functions/api-handler.test.ts.
describe('A method that a path does not take is refused with 404, code not_found and the allowed methods', () => {
  const expectRefused = (answer: Awaited<ReturnType<typeof send>>, path: string) => {
    expect(refusal(answer)).toEqual([404, 'not_found']);
    expect(answer.headers.get('allow')?.split(', ').sort()).toEqual(methodsOf(path).toSorted());
  };

  test.each(PATHS)('%s', async (path) => {
    expectRefused(await request('PATCH', filled(path), 'text', { 'content-type': 'text/plain' }), path);
  });

  const path = '/v1/generations/{requestId}';
  test.each(METHODS.filter((method) => !methodsOf(path).includes(method)))(
    'each of them, such as %s, with or without a key, a query and a body',
    async (method) => {
      const answers = [
        await send(caller.service, method, filled(path)),
        await request(method, `${filled(path)}?x=1`),
        await request(method, filled(path), '<a/>', { 'content-type': 'application/vnd.rare+xml' }),
      ];

      for (const answer of answers) expectRefused(answer, path);
    },
  );
});

describe('An unknown route is 404 not_found', () => {
  test.each([
    ...['/', '/v1', '/v2/generations', '/generations', '/V1/models', '/v1/Models', '/favicon.ico'],
    '/v1/models/xSD4.5',
    ...['/v1/generations/img_01ARZ3NDEKTSV4RRFFQ69G5FAV/images', '/v1/generations%2Fx', '/v1/%E0%A4%A'],
  ])('%s with or without a key', async (path) => {
    expect(refusal(await request('GET', path))).toEqual([404, 'not_found']);
    expect(refusal(await send(caller.service, 'POST', path))).toEqual([404, 'not_found']);
  });

  test('with every method', async () => {
    for (const method of METHODS)
      expect(refusal(await request(method, '/v2/generations'))).toEqual([404, 'not_found']);
  });

  test('whose message says where the reference is', async () => {
    const { body } = await request('GET', '/');
    const [referenceUrl = ''] = /http[^\s"]+/.exec(JSON.stringify(body)) ?? [];

    expect(await (await fetch(referenceUrl)).text()).toContain('<title>API reference</title>');
    // The address of the files has the console at its own root.
    expect(await (await fetch(new URL('.', referenceUrl))).text()).toContain('<title>Console ');
  });
});

// How each body is read is tested in test/unit/functions/api-request.test.ts.
describe('A body', () => {
  const path = '/v1/generations';

  test("over 10 MB, the gateway's limit, is refused", async () => {
    const answer = await request('POST', path, ' '.repeat(10 * 1024 * 1024 + 1));

    expect(refusal(answer)).toEqual([400, 'validation_error']);
  });

  test('is read as JSON with any content type, and is refused by name when it is no JSON object or too large', async () => {
    for (const type of ['text/plain', 'image/png', 'x'])
      expect(wrongFields(await request('POST', path, '{"x":1}', { 'content-type': type }))).toContain('x');
    for (const body of ['x', '[]', `{"x":"${'é'.repeat(128 * 1024)}"}`])
      expect(wrongFields(await request('POST', path, body))).toEqual(['body']);
  });
});

test('A path with a broken escape is refused in the shape of every error', async () => {
  expect(refusal(await request('GET', '/v1/generations/%E0%A4%A'))).toEqual([400, 'validation_error']);
});

test('An error reveals no internals to the caller', async () => {
  const answers = await Promise.all([
    send(caller.service, 'GET', '/v1/balance'),
    request('GET', '/v1/nothing'),
    request('PUT', '/v1/balance'),
    request('POST', '/v1/generations', '{'),
    request('GET', '/v1/generations/img_01ARZ3NDEKTSV4RRFFQ69G5FAV'),
  ]);

  for (const { body } of answers) {
    expect(JSON.stringify(body)).not.toMatch(
      /arn:|dynamodb|lambda|\bat .+:\d+|Exception|Syntax|node_modules/i,
    );
  }
});

test("Every answer has its own X-Request-Id, including the gateway's refusals", async () => {
  const paths = ['/v1/balance', '/v1/models', '/v1/generations/{requestId}'].map((path) => filled(path));
  const answers = await Promise.all([
    ...paths.map((path) => request('GET', path)),
    ...paths.map((path) => request('PUT', path)),
    ...paths.map((path) => request('GET', `${path}/x/y`)),
  ]);

  const ids = answers.map(({ headers }) => headers.get('x-request-id'));
  expect(new Set(ids).size).toBe(answers.length);
});
