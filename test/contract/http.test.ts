import { beforeAll, describe, expect, test } from '@jest/globals';
import { refusal } from './support/answers.ts';
import { type Caller, newCaller, send, sharedService } from './support/client.ts';

let caller: Caller;
beforeAll(async () => {
  caller = await newCaller(await sharedService(), 0);
});

const request = (method: string, path: string, headers: Record<string, string> = {}, body?: unknown) =>
  send(caller.service, method, path, {
    headers: { authorization: `Bearer ${caller.key}`, ...headers },
    body,
  });

describe('An unknown route is 404 not_found, with or without a key', () => {
  test.each([
    ['GET', '/'],
    ['GET', '/v1'],
    ['GET', '/v2/models'],
    ['GET', '/v1/model'],
    ['GET', '/v1/Models'],
    ['GET', '/v1/models/xSD4.5'],
    ['GET', '/v1/generations/img_01ARZ3NDEKTSV4RRFFQ69G5FAV/images'],
    ['POST', '/generations'],
    ['DELETE', '/v1/balance/history/led_01ARZ3NDEKTSV4RRFFQ69G5FAV'],
  ])('%s %s', async (method, path) => {
    expect(refusal(await request(method, path))).toEqual([404, 'not_found']);
    expect(refusal(await send(caller.service, method, path))).toEqual([404, 'not_found']);
  });
});

describe('A known route with another method is 404 with code not_found, and lists the allowed methods', () => {
  test.each([
    ['PUT', '/v1/generations', 'POST'],
    ['PATCH', '/v1/generations', 'POST'],
    ['PUT', '/v1/generations/img_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'GET'],
    ['POST', '/v1/models', 'GET'],
    ['OPTIONS', '/v1/models', 'GET'],
    ['DELETE', '/v1/balance', 'GET'],
    ['POST', '/v1/balance/history', 'GET'],
  ])('%s %s', async (method, path, allowed) => {
    const answer = await request(method, path);

    expect(refusal(answer)).toEqual([404, 'not_found']);
    expect(answer.headers.get('allow')).toContain(allowed);
  });

  test.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'image/png'])(
    'with a body of type %s',
    async (contentType) => {
      const answer = await request('PUT', '/v1/generations', { 'content-type': contentType }, '{"a":1}');

      expect(refusal(answer)).toEqual([404, 'not_found']);
    },
  );
});

test('A path with a broken escape is refused in the shape of every error', async () => {
  expect(refusal(await request('GET', '/v1/generations/%E0%A4%A'))).toEqual([400, 'validation_error']);
});

test('Every answer has its own X-Request-Id', async () => {
  const paths = ['/v1/balance', '/v1/balance', '/v1/nothing', '/v1/generations/latest'];

  const answers = await Promise.all(paths.map((path) => request('GET', path)));

  expect(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size).toBe(paths.length);
});

test('An error reveals no internals to the caller', async () => {
  const answers = await Promise.all([
    send(caller.service, 'GET', '/v1/balance'),
    request('GET', '/v1/nothing'),
    request('PUT', '/v1/balance'),
    request('POST', '/v1/generations', {}, '{'),
    request('GET', '/v1/generations/img_01ARZ3NDEKTSV4RRFFQ69G5FAV'),
  ]);

  for (const { body } of answers) {
    expect(JSON.stringify(body)).not.toMatch(
      /arn:|dynamodb|lambda|\bat .+:\d+|Exception|Syntax|node_modules/i,
    );
  }
});
