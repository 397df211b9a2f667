import { describe, expect, test } from '@jest/globals';
import { startFrontDoor } from '../../src/gateway/front-door.ts';
import type { InvocationResult } from '../../src/types.ts';
import { anApi, answering, aRoute, ok, send, THINGS, useDoors } from './an-api.ts';

const { doors, open, ask } = useDoors();
const routes = THINGS;

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

  test('refuse a method that wants an API key, with any key and content type: there are none', async () => {
    const keyed = { method: 'ANY', resourcePath: '/{proxy+}' };
    const responses = { ...gatewayResponses, INVALID_API_KEY: gatewayResponses.MISSING_AUTHENTICATION_TOKEN };
    const door = await open(anApi({ routes: [...routes, keyed], gatewayResponses: responses }), ok);

    const sent: Record<string, string>[] = [
      {},
      { 'x-api-key': 'abc' },
      { authorization: 'Bearer abc', 'content-type': 'x' },
    ];
    for (const headers of sent) {
      const answer = await send(door.baseUrl, '/v2', { method: 'POST', body: '{}', headers });

      expect([answer.statusCode, answer.headers['x-amzn-errortype']]).toEqual([404, 'ForbiddenException']);
    }
    expect(door.events).toEqual([]);
  });

  test.each([
    ['Bearer abc', 'IncompleteSignatureException'],
    ['AWS4-HMAC-SHA256 Credential=x, SignedHeaders=host, Signature=y', 'InvalidSignatureException'],
  ])('judge the Authorization header of an unknown route: %s', async (authorization, errorType) => {
    const door = await open(anApi({ routes, gatewayResponses }), ok);

    for (const path of ['/v2', '/v1/things/1/more']) {
      const answer = await send(door.baseUrl, path, { headers: { authorization } });

      expect([answer.statusCode, answer.headers['x-amzn-errortype']]).toEqual([403, errorType]);
      expect(JSON.parse(answer.body.toString()).error.code).toBe('bad');
    }
    expect((await send(door.baseUrl, '/v1/things', { headers: { authorization } })).statusCode).toBe(200);
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
    const body = Buffer.alloc(10 * 1024 * 1024, 'x');

    const { statusCode } = await ask(ok, '/v1/things', { method: 'POST', body });

    expect(statusCode).toBe(200);
  });

  test('have API Gateway’s own shape without customization', async () => {
    const { statusCode, headers, body } = await ask(ok, '/v2');

    expect(statusCode).toBe(403);
    expect(headers['x-amzn-errortype']).toBe('MissingAuthenticationTokenException');
    expect(JSON.parse(body.toString())).toEqual({ message: 'Missing Authentication Token' });
  });

  test('include the time limit of a function', async () => {
    const hang = () => new Promise<InvocationResult>(() => undefined);

    const { statusCode, body } = await ask(
      hang,
      '/slow',
      {},
      { routes: [aRoute('GET', '/slow', 'slow', 20)] },
    );

    expect(statusCode).toBe(504);
    expect(JSON.parse(body.toString())).toEqual({ message: 'Endpoint request timed out' });
  });

  test.each([
    ['RequestTooLargeException', 413],
    ['ResourceNotFoundException', 502],
    ['TooManyRequestsException', 500],
  ])('include a refused invocation: %s', async (name, expected) => {
    const refuse = () => Promise.reject(Object.assign(new Error(), { name }));

    expect((await ask(refuse, '/v1/things')).statusCode).toBe(expected);
  });

  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['a template', { 'application/json': '#set($x = 1){}' }, {}],
    ['a template with the input', { 'application/json': "$input.json('$')" }, {}],
    ['a header mapping', {}, { Origin: 'method.request.header.Origin' }],
  ])('stop the start when %s cannot be rendered', async (_title, templates, headers) => {
    const api = anApi({ routes, gatewayResponses: { DEFAULT_4XX: { templates, headers } } });

    await expect(open(api, ok)).rejects.toThrow(/cannot (render|map)/);
  });
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
