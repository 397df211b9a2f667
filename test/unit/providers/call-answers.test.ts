import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Answered, callProvider } from '../../../providers/http.ts';
import { LoopbackServer } from '../servers/loopback-server.ts';

const server = new LoopbackServer();
beforeAll(() => server.start());
beforeEach(() => server.reset());
afterAll(() => server.close());

const call = (options: Partial<Parameters<typeof callProvider>[2]> = {}) =>
  callProvider('POST', server.url, { headers: {}, signal: new AbortController().signal, ...options });
/** What a call reads of this answer. */
const answered = async (body: unknown, headers: Record<string, string> = {}): Promise<Partial<Answered>> => {
  server.answer(200, body, headers);
  return call() as Promise<Answered>;
};

describe('an answer to a call of a provider', () => {
  test('has its status and body, and nothing that was not sent', async () => {
    server.answer(418, { a: 1 });

    expect(await call()).toEqual({ kind: 'answered', status: 418, body: { a: 1 } });
  });

  test.each<[string, Record<string, string>, object, string | undefined]>([
    ['the header', { 'x-request-id': 'call-7' }, {}, 'call-7'],
    ['the header before the body', { 'x-request-id': 'call-7' }, { request_id: 'r-1' }, 'call-7'],
    ['the body', {}, { request_id: 'r-1' }, 'r-1'],
    ['the body where the header has none', { 'x-request-id': 'a b' }, { request_id: 'r-1' }, 'r-1'],
    ['neither, where it is no text', {}, { request_id: 7 }, undefined],
    ['neither, where it may be content', {}, { request_id: 'a fox' }, undefined],
    ['neither, where it is longer than an id', {}, { request_id: 'r'.repeat(101) }, undefined],
    ['the body, as long as an id may be', {}, { request_id: 'r'.repeat(100) }, 'r'.repeat(100)],
  ])("has the provider's own id of the call, by %s", async (_, headers, body, id) => {
    expect((await answered(body, headers)).providerRequestId).toBe(id);
  });

  test.each<[unknown]>([['text'], ['null'], ['[]'], ['5']])('has no id in the body %s', async (body) => {
    expect((await answered(body)).providerRequestId).toBeUndefined();
  });

  test("has fal's own code of an error by its header, in the form of a code", async () => {
    expect((await answered({}, { 'x-fal-error-type': 'runner_disconnected' })).errorType).toBe(
      'runner_disconnected',
    );
    expect((await answered({}, { 'x-fal-error-type': 'in words' })).errorType).toBeUndefined();
  });

  test.each<[string, unknown]>([
    ['{"a":1}', { a: 1 }],
    ['data:{"a":1}\n\n', { a: 1 }],
    ['id:1\nevent:result\ndata: {"a":1}\n\n', { a: 1 }],
    ['data:{"a":1}\n\ndata:{"a":2}\n\n', { a: 2 }],
    ['<html>data:{"a":1}</html>', undefined],
    ['data:[DONE]\n\n', undefined],
    ['', undefined],
  ])('is JSON, or the last event of a stream: %j', async (body, read) => {
    expect((await answered(body)).body).toEqual(read);
  });
});

describe('a call of a provider', () => {
  test('has a body where one is given, and its own headers before the usual ones', async () => {
    server.answer(200, {});
    await call({
      body: { prompt: 'ünïcode' },
      headers: { 'content-type': 'application/x', authorization: 'k' },
    });
    await call();

    expect(server.requests.map(({ method, body }) => [method, body])).toEqual([
      ['POST', { prompt: 'ünïcode' }],
      ['POST', undefined],
    ]);
    expect(server.requests.map(({ headers }) => headers['content-type'])).toEqual([
      ...['application/x', 'application/json'],
    ]);
    expect(server.requests[0]?.headers.authorization).toBe('k');
  });
});
