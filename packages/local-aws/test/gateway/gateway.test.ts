import { afterEach, describe, expect, test } from '@jest/globals';
import { type FrontDoor, startFrontDoor } from '../../src/gateway/front-door.ts';
import type { MockIntegration } from '../../src/template/api.ts';
import type { InvocationResult } from '../../src/types.ts';
import { anApi, aRoute, openDoor, send } from './an-api.ts';

const doors: FrontDoor[] = [];
afterEach(async () => {
  await Promise.all(doors.splice(0).map((door) => door.close()));
});

const open: typeof openDoor = async (...args) => {
  const door = await openDoor(...args);
  doors.push(door);
  return door;
};

const answering = (payload: unknown) => () => ({ payload });
const ok = answering({ statusCode: 200 });
const routes = [aRoute('ANY', '/v1/things'), aRoute('GET', '/v1/things/{thingId}')];

describe('the event', () => {
  test('is that of a REST API', async () => {
    const door = await open(anApi({ routes }), ok);
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
    const door = await open(anApi({ routes }), ok);

    await send(door.baseUrl, `/v1/things${query}`);

    expect(JSON.stringify(door.events[0]?.multiValueQueryStringParameters)).toBe(JSON.stringify(expected));
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
    const door = await open(anApi({ routes }), ok);

    const { statusCode } = await send(door.baseUrl, `/v1/things/${thingId}`);

    expect(statusCode).toBe(200);
    expect(door.events[0]).toMatchObject({ path: `/v1/things/${thingId}`, pathParameters: { thingId } });
  });

  test('has the body as text for any other media type', async () => {
    const door = await open(anApi({ routes }), ok);

    await send(door.baseUrl, '/v1/things', { method: 'POST', body: '{"prompt":"日本語 😀"}' });
    await send(door.baseUrl, '/v1/things', { method: 'POST', body: Buffer.from([0xff, 0x41]) });

    expect(door.events.map(({ body }) => body)).toEqual(['{"prompt":"日本語 😀"}', '\uFFFDA']);
  });

  test('has the body in base64 for a binary media type', async () => {
    const door = await open(anApi({ routes, binaryMediaTypes: ['image/*'] }), ok);

    await send(door.baseUrl, '/v1/things', {
      method: 'POST',
      headers: { 'content-type': 'image/png; q=1' },
      body: Buffer.from([0xff, 0x41]),
    });

    expect(door.events[0]).toMatchObject({ body: '/0E=', isBase64Encoded: true });
  });
});

describe("the function's answer", () => {
  test('is sent with its status, headers and text', async () => {
    const door = await open(
      anApi({ routes }),
      answering({
        statusCode: 202,
        headers: { Location: '/v1/things/1', 'X-Count': 3 },
        multiValueHeaders: { 'Set-Cookie': ['a=1', 'b=2'], location: ['/v1/things/2'] },
        body: '{"prompt":"日本語"}',
      }),
    );

    const answer = await send(door.baseUrl, '/v1/things');

    expect(answer).toMatchObject({
      statusCode: 202,
      headers: {
        'content-type': 'application/json',
        'content-length': '22',
        location: '/v1/things/2',
        'set-cookie': ['a=1', 'b=2'],
        'x-count': '3',
        'x-amzn-requestid': door.events[0]?.requestContext.requestId,
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
    const door = await open(
      anApi({ routes, binaryMediaTypes }),
      answering({ statusCode: 200, body: 'AUE=', isBase64Encoded: true }),
    );

    const { body } = await send(door.baseUrl, '/v1/things', { headers: accept ? { accept } : {} });

    expect(body.toString()).toBe(expected);
  });

  test('cannot set connection headers; some others are renamed', async () => {
    const door = await open(
      anApi({ routes }),
      answering({
        statusCode: 401,
        headers: { 'WWW-Authenticate': 'Bearer', 'Content-Length': '999', 'Transfer-Encoding': 'chunked' },
        body: 'no',
      }),
    );

    const { headers, body } = await send(door.baseUrl, '/v1/things');

    expect(headers).toMatchObject({ 'x-amzn-remapped-www-authenticate': 'Bearer', 'content-length': '2' });
    expect(headers).not.toHaveProperty('transfer-encoding');
    expect(body.toString()).toBe('no');
  });

  test('has no body for HEAD, and no length for 204', async () => {
    const door = await open(anApi({ routes }), ({ httpMethod }) => ({
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
    const door = await open(anApi({ routes }), () => result);

    const { statusCode, body } = await send(door.baseUrl, '/v1/things');

    expect(statusCode).toBe(502);
    expect(JSON.parse(body.toString())).toEqual({ message: 'Internal server error' });
  });
});

describe("the gateway's own errors", () => {
  const gatewayResponses = {
    DEFAULT_4XX: {
      headers: { 'X-Request-Id': 'context.requestId', 'Retry-After': "'7'" },
      templates: {
        'application/json':
          '{"error":{"code":"bad","message":$context.error.messageString,"id":"$context.requestId"}}',
      },
    },
    DEFAULT_5XX: {
      statusCode: 500,
      headers: {},
      templates: { 'application/json': '{"oops":"$context.error.message"}' },
    },
    MISSING_AUTHENTICATION_TOKEN: {
      statusCode: 404,
      headers: { 'X-Request-Id': 'context.requestId' },
      templates: { 'application/json': '{"error":{"code":"not_found"}}' },
    },
  };

  test('have the shape in the template: an unknown route', async () => {
    const door = await open(anApi({ routes, gatewayResponses }), ok);

    for (const [method, path] of [
      ['GET', '/v2'],
      ['POST', '/v1/things/1'],
      ['POST', '/v2'],
    ] as const) {
      const answer = await send(door.baseUrl, path, { method, body: method === 'POST' ? '{}' : '' });

      expect(answer.statusCode).toBe(404);
      expect(answer.body.toString()).toBe('{"error":{"code":"not_found"}}');
      expect(answer.headers['x-request-id']).toBe(answer.headers['x-amzn-requestid']);
      expect(answer.headers['content-type']).toBe('application/json');
    }
    expect(door.events).toEqual([]);
  });

  test('fall back to DEFAULT_4XX or DEFAULT_5XX, with their own status and message', async () => {
    const door = await open(anApi({ routes, gatewayResponses }), answering('malformed'));

    const tooLarge = await send(door.baseUrl, '/v1/things', {
      method: 'POST',
      body: Buffer.alloc(10 * 1024 * 1024 + 1, 'x'),
    });
    const failed = await send(door.baseUrl, '/v1/things');

    expect(tooLarge.statusCode).toBe(413);
    expect(JSON.parse(tooLarge.body.toString())).toEqual({
      error: {
        code: 'bad',
        message: 'HTTP content length exceeded 10485760 bytes.',
        id: tooLarge.headers['x-amzn-requestid'],
      },
    });
    expect(tooLarge.headers['retry-after']).toBe('7');
    expect(failed.statusCode).toBe(500);
    expect(failed.body.toString()).toBe('{"oops":"Internal server error"}');
  });

  test('allow a body of exactly the limit', async () => {
    const door = await open(anApi({ routes }), ok);

    const { statusCode } = await send(door.baseUrl, '/v1/things', {
      method: 'POST',
      body: Buffer.alloc(10 * 1024 * 1024, 'x'),
    });

    expect(statusCode).toBe(200);
  });

  test('have API Gateway’s own shape without customization', async () => {
    const door = await open(anApi({ routes }), ok);

    const { statusCode, headers, body } = await send(door.baseUrl, '/v2');

    expect(statusCode).toBe(403);
    expect(headers['x-amzn-errortype']).toBe('MissingAuthenticationTokenException');
    expect(JSON.parse(body.toString())).toEqual({ message: 'Missing Authentication Token' });
  });

  test('include the time limit of a function', async () => {
    const door = await open(
      anApi({ routes: [aRoute('GET', '/slow', 'slow', 20)] }),
      () => new Promise<InvocationResult>(() => undefined),
    );

    const { statusCode, body } = await send(door.baseUrl, '/slow');

    expect(statusCode).toBe(504);
    expect(JSON.parse(body.toString())).toEqual({ message: 'Endpoint request timed out' });
  });

  test.each([
    ['RequestTooLargeException', 413],
    ['ResourceNotFoundException', 502],
  ])('include a refused invocation: %s', async (name, expected) => {
    const door = await open(anApi({ routes }), () => Promise.reject(Object.assign(new Error(), { name })));

    expect((await send(door.baseUrl, '/v1/things')).statusCode).toBe(expected);
  });

  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['a template', { 'application/json': '#set($x = 1){}' }, {}],
    ['a template with the input', { 'application/json': "$input.json('$')" }, {}],
    ['a header mapping', {}, { Origin: 'method.request.header.Origin' }],
  ])('stop the start when %s cannot be rendered', async (_title, templates, headers) => {
    const api = anApi({ routes, gatewayResponses: { DEFAULT_4XX: { templates, headers } } });

    await expect(openDoor(api, ok)).rejects.toThrow(/cannot (render|map)/);
  });
});

describe('a mock integration', () => {
  const integration: MockIntegration = {
    type: 'MOCK',
    passthroughBehavior: 'NEVER',
    requestTemplates: { 'application/json': '{ statusCode: 405 }' },
    responses: [
      { statusCode: 200, selectionPattern: '2\\d\\d', headers: {}, templates: {} },
      {
        statusCode: 405,
        headers: { Allow: "'GET'", 'X-Request-Id': 'context.requestId' },
        templates: { 'application/json': '{"method":"$context.httpMethod","id":"$context.requestId"}' },
      },
    ],
  };
  const mock = (overrides: Partial<MockIntegration> = {}) =>
    open(
      anApi({
        routes: [
          aRoute('GET', '/v1/things'),
          { method: 'ANY', resourcePath: '/v1/things', integration: { ...integration, ...overrides } },
        ],
      }),
      ok,
    );

  test('answers methods that are not declared', async () => {
    const door = await mock();

    expect((await send(door.baseUrl, '/v1/things')).statusCode).toBe(200);
    for (const method of ['POST', 'DELETE', 'OPTIONS']) {
      const { statusCode, headers, body } = await send(door.baseUrl, '/v1/things', { method });
      expect(statusCode).toBe(405);
      expect(headers).toMatchObject({ allow: 'GET', 'x-request-id': headers['x-amzn-requestid'] });
      expect(JSON.parse(body.toString())).toEqual({ method, id: headers['x-request-id'] });
    }
    expect(door.events).toHaveLength(1);
  });

  test('answers with the status that the request template chose', async () => {
    const door = await mock({ requestTemplates: { 'application/json': '{"statusCode": 204}' } });

    expect((await send(door.baseUrl, '/v1/things', { method: 'PUT' })).statusCode).toBe(200);
  });

  test.each<[MockIntegration['passthroughBehavior'], string, number]>([
    ['NEVER', '', 415],
    ['WHEN_NO_TEMPLATES', '', 415],
    ['WHEN_NO_MATCH', '', 500],
    ['WHEN_NO_MATCH', '{"statusCode":405}', 405],
  ])(
    'with %s answers a content type without a template and body %j with %i',
    async (passthroughBehavior, body, expected) => {
      const door = await mock({ passthroughBehavior });

      const answer = await send(door.baseUrl, '/v1/things', {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body,
      });

      expect(answer.statusCode).toBe(expected);
    },
  );
});

describe('the front door', () => {
  test('answers 503 until it is opened, then 200', async () => {
    const door = await startFrontDoor(0);
    doors.push(door);

    const before = await send(door.baseUrl, '/v1/things');
    door.open({ api: async (_request, response) => void response.end('open') });
    const after = await send(door.baseUrl, '/v1/things');

    expect(before.statusCode).toBe(503);
    expect(before.headers['retry-after']).toBe('1');
    expect(after.body.toString()).toBe('open');
  });

  test('names a port that is taken', async () => {
    const door = await startFrontDoor(0);
    doors.push(door);
    const port = Number(new URL(door.baseUrl).port);

    await expect(startFrontDoor(port)).rejects.toThrow(`Port ${port} is taken`);
  });

  test('closes while a client keeps its connection', async () => {
    const door = await open(anApi({ routes }), ok);
    await fetch(`${door.baseUrl}/v1/things`).then((response) => response.text());

    await door.close();

    await expect(fetch(`${door.baseUrl}/v1/things`)).rejects.toThrow();
  });
});
