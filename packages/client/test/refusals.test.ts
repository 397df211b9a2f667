import { describe, expect, test } from '@jest/globals';
import {
  type ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  ContentPolicyError,
  ForbiddenError,
  NotFoundError,
  PaymentRequiredError,
  RateLimitedError,
  ServerError,
  TemporarilyUnavailableError,
  ValidationError,
} from '../src/index.ts';
import { accepted, BODY, errorOf, startServer } from './a-client.ts';
import { json, refuse } from './server.ts';
import { watchTimers } from './timers.ts';

const { server, aClient } = await startServer();

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
    const client = aClient();
    for (const call of [
      () => client.createImage(BODY),
      () => client.getBalance(),
      () => client.deleteRequest('img_1'),
    ]) {
      server.answer(refuse(status, code));
      const error = await errorOf(call());

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

test('A service that cannot be reached is a ConnectionError with its cause', async () => {
  const error = await errorOf(aClient({ baseUrl: 'http://127.0.0.1:1', maxRetries: 1 }).createImage(BODY));

  expect(error).toBeInstanceOf(ConnectionError);
  expect(error.cause).toMatchObject({ name: 'TypeError' });
  expect(error.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
});

describe('A base URL of plain http:', () => {
  test.each(['http://127.0.0.1:3000', 'http://localhost:3000', 'HTTP://LocalHost/base', 'http://[::1]:1/'])(
    'may be on this machine: %s',
    (baseUrl) => {
      expect(() => aClient({ baseUrl })).not.toThrow();
    },
  );

  test.each([
    'http://api.example.com',
    'http://127.0.0.1.example.com',
    'http://localhost:1@example.com',
    'http://localhost@example.com',
    'http://10.0.0.1',
    'ftp://localhost',
  ])('is refused elsewhere before the key is sent: %s', (baseUrl) => {
    expect(() => aClient({ baseUrl })).toThrow(TypeError);
  });

  test('may be elsewhere where that is asked for', () => {
    expect(() => aClient({ baseUrl: 'http://10.0.0.1', allowHttp: true })).not.toThrow();
    expect(() => aClient({ baseUrl: 'ftp://10.0.0.1', allowHttp: true })).toThrow(TypeError);
  });
});
