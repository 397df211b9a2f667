import { describe, expect, test } from '@jest/globals';
import type { InvocationResult } from '../../src/types.ts';
import { anApi, answering, ok, send, THINGS, useDoors } from './an-api.ts';

const { open, ask } = useDoors();

describe('the event', () => {
  test('is that of a REST API', async () => {
    const door = await open(anApi({ routes: THINGS }), ok);
    const startedAt = Date.now();

    await send(door.baseUrl, '/v1/things/one%20two%2F3?page=2&tag=a&tag=b%2Bc', {
      headers: { 'X-Custom': ['1', '2'], 'User-Agent': 'tester', 'X-Forwarded-For': '10.0.0.1' },
    });

    const { port } = new URL(door.baseUrl);
    expect(door.events).toEqual([
      {
        resource: '/v1/things/{thingId}',
        path: '/v1/things/one%20two%2F3',
        httpMethod: 'GET',
        headers: expect.objectContaining({
          'X-Custom': '2',
          'User-Agent': 'tester',
          Host: `127.0.0.1:${port}`,
          'X-Forwarded-For': '10.0.0.1, 127.0.0.1',
          'X-Forwarded-Port': port,
          'X-Forwarded-Proto': 'http',
        }),
        multiValueHeaders: expect.objectContaining({ 'X-Custom': ['1', '2'], 'User-Agent': ['tester'] }),
        queryStringParameters: { page: '2', tag: 'b+c' },
        multiValueQueryStringParameters: { page: ['2'], tag: ['a', 'b+c'] },
        pathParameters: { thingId: 'one%20two%2F3' },
        stageVariables: null,
        requestContext: expect.objectContaining({
          accountId: '000000000000',
          apiId: 'api1234567',
          domainName: '127.0.0.1',
          extendedRequestId: expect.stringMatching(/^\S{16}$/),
          httpMethod: 'GET',
          identity: expect.objectContaining({ sourceIp: '127.0.0.1', userAgent: 'tester', user: null }),
          path: '/v1/things/one%20two%2F3',
          protocol: 'HTTP/1.1',
          requestId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/),
          requestTime: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
          resourcePath: '/v1/things/{thingId}',
          stage: 'prod',
        }),
        body: null,
        isBase64Encoded: false,
      },
    ]);
    expect(door.events[0]?.requestContext.requestTimeEpoch).toBeGreaterThanOrEqual(startedAt);
  });

  test.each<[string, Record<string, string[]> | null]>([
    ['', null],
    ['?', null],
    ['?flag', { flag: [''] }],
    ['?a=x+y', { a: ['x y'] }],
    ['?a=%252B', { a: ['%2B'] }],
    ['?a=1?b=2', { a: ['1?b=2'] }],
    ['?a=%zz', { a: ['%zz'] }],
    ['?n%C3%A4me=%E2%82%AC', { näme: ['€'] }],
    ['?__proto__=1', JSON.parse('{"__proto__":["1"]}')],
  ])('decodes the query %s once', async (query, expected) => {
    const { events } = await ask(ok, `/v1/things${query}`);

    expect(JSON.stringify(events[0]?.multiValueQueryStringParameters)).toBe(JSON.stringify(expected));
  });

  test.each([
    ['an escaped plus', 'a%2Bb@example.com'],
    ['a plus', 'a+b@example.com'],
    ['an escape of an escape', 'a%252Bb'],
    ['a letter beyond ASCII', 'j%C3%B6rg%40example.com'],
    ['an escaped slash', 'a%2Fb'],
    ['a broken escape', '%zz'],
    ['half a character', '%C3'],
  ])('does not decode path and parameters: %s', async (_what, thingId) => {
    const { statusCode, events } = await ask(ok, `/v1/things/${thingId}`);

    expect(statusCode).toBe(200);
    expect(events[0]).toMatchObject({ path: `/v1/things/${thingId}`, pathParameters: { thingId } });
  });

  test('has the body as text for any other media type', async () => {
    const door = await open(anApi({ routes: THINGS }), ok);

    await send(door.baseUrl, '/v1/things', { method: 'POST', body: '{"prompt":"日本語 😀"}' });
    await send(door.baseUrl, '/v1/things', { method: 'POST', body: Buffer.from([0xff, 0x41]) });

    expect(door.events.map(({ body }) => body)).toEqual(['{"prompt":"日本語 😀"}', '\uFFFDA']);
  });

  test('has the body in base64 for a binary media type', async () => {
    const image = { headers: { 'content-type': 'image/png; q=1' }, body: Buffer.from([0xff, 0x41]) };

    const { events } = await ask(
      ok,
      '/v1/things',
      { method: 'POST', ...image },
      { binaryMediaTypes: ['image/*'] },
    );

    expect(events[0]).toMatchObject({ body: '/0E=', isBase64Encoded: true });
  });
});

describe("the function's answer", () => {
  test('is sent with its status, headers and text', async () => {
    const answer = await ask(
      answering({
        statusCode: 202,
        headers: { Location: '/v1/things/1', 'X-Count': 3 },
        multiValueHeaders: { 'Set-Cookie': ['a=1', 'b=2'], location: ['/v1/things/2'] },
        body: '{"prompt":"日本語"}',
      }),
      '/v1/things',
    );

    expect(answer).toMatchObject({
      statusCode: 202,
      headers: {
        'content-type': 'application/json',
        'content-length': '22',
        location: '/v1/things/2',
        'set-cookie': ['a=1', 'b=2'],
        'x-count': '3',
        'x-amzn-requestid': answer.events[0]?.requestContext.requestId,
      },
    });
    expect(answer.body.toString()).toBe('{"prompt":"日本語"}');
  });

  test.each<[string, string[], string | undefined, string]>([
    ['is decoded when the client accepts a binary type', ['image/png'], 'image/png, */*', '\u0001A'],
    ['is decoded when all types are binary', ['*/*'], undefined, '\u0001A'],
    ['stays as it is when the client accepts none', ['image/png'], 'application/json', 'AUE='],
    ['stays as it is when the API has none', [], 'image/png', 'AUE='],
  ])('in base64 %s', async (_title, binaryMediaTypes, accept, expected) => {
    const image = answering({ statusCode: 200, body: 'AUE=', isBase64Encoded: true });

    const { body } = await ask(
      image,
      '/v1/things',
      { headers: accept ? { accept } : {} },
      { binaryMediaTypes },
    );

    expect(body.toString()).toBe(expected);
  });

  test('cannot set connection headers; some others are renamed', async () => {
    const { headers, body } = await ask(
      answering({
        statusCode: 401,
        headers: { 'WWW-Authenticate': 'Bearer', 'Content-Length': '999', 'Transfer-Encoding': 'chunked' },
        body: 'no',
      }),
      '/v1/things',
    );

    expect(headers).toMatchObject({ 'x-amzn-remapped-www-authenticate': 'Bearer', 'content-length': '2' });
    expect(headers).not.toHaveProperty('transfer-encoding');
    expect(body.toString()).toBe('no');
  });

  test('has no body for HEAD, and no length for 204', async () => {
    const door = await open(anApi({ routes: THINGS }), ({ httpMethod }) => ({
      payload: httpMethod === 'HEAD' ? { statusCode: 200, body: 'text' } : { statusCode: 204 },
    }));

    const head = await send(door.baseUrl, '/v1/things', { method: 'HEAD' });
    const empty = await send(door.baseUrl, '/v1/things', { method: 'OPTIONS' });

    expect(head.headers['content-length']).toBe('4');
    expect(head.body).toHaveLength(0);
    expect(empty.statusCode).toBe(204);
    expect(empty.headers).not.toHaveProperty('content-length');
  });

  test.each<[string, InvocationResult]>([
    ['an error of the function', { payload: { errorType: 'Error' }, functionError: 'Unhandled' }],
    ['nothing', { payload: null }],
    ['text', { payload: 'hello' }],
    ['no status', { payload: { body: 'x' } }],
    ['a status that is none', { payload: { statusCode: 'fine' } }],
    ['a body that is not text', { payload: { statusCode: 200, body: { a: 1 } } }],
    ['headers that are a list', { payload: { statusCode: 200, headers: ['a'] } }],
    ['a header that is an object', { payload: { statusCode: 200, headers: { a: {} } } }],
    ['a header with a line break', { payload: { statusCode: 200, headers: { a: 'x\r\nSet-Cookie: y' } } }],
    ['a multi-value header that is text', { payload: { statusCode: 200, multiValueHeaders: { a: 'b' } } }],
  ])('is a 502 when it is %s', async (_title, result) => {
    const { statusCode, body } = await ask(() => result, '/v1/things');

    expect(statusCode).toBe(502);
    expect(JSON.parse(body.toString())).toEqual({ message: 'Internal server error' });
  });
});
