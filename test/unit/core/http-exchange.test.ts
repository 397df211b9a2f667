import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type LookupFunction, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type ExchangeOptions, exchange } from '../../../core/http-exchange.ts';
import { LoopbackServer } from '../servers/loopback-server.ts';

const server = await new LoopbackServer().start();
beforeEach(() => server.reset());
afterEach(() => {
  jest.useRealTimers();
});
afterAll(() => server.close());

const call = (options: Partial<ExchangeOptions> = {}) =>
  exchange(new URL(server.url), {
    method: 'GET',
    headers: {},
    signal: AbortSignal.timeout(20_000),
    ...options,
  });

describe('an exchange', () => {
  test('that does not connect ends after 5 s, its resolver included', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const asked = Promise.withResolvers<void>();
    const lookup: LookupFunction = () => asked.resolve();
    const signal = new AbortController().signal;
    const answer = exchange(new URL('https://name.example/'), { method: 'GET', headers: {}, signal, lookup });
    const outcome = expect(answer).rejects.toMatchObject({
      name: 'ConnectTimeoutError',
      code: 'CONNECT_TIMEOUT',
    });
    await asked.promise;
    await new Promise((resolve) => setImmediate(resolve));

    jest.advanceTimersByTime(5_000);

    await outcome;
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['before the headers', () => undefined],
    ['within the body', (response) => response.writeHead(200).write('a')],
  ])('ends when the server is silent for longer than allowed %s', async (_, respond) => {
    server.respond = (_request, response) => respond(response);

    await expect(call({ silenceLimitMs: 30 }).then(({ body }) => text(body))).rejects.toMatchObject({
      name: 'SilenceError',
      code: 'SILENCE_TIMEOUT',
    });
  });

  test('does not take a reader who is slow for a server that is silent', async () => {
    const content = 'a'.repeat(4 * 1024 * 1024);
    server.respond = (_request, response) => response.end(content);

    const { body } = await call({ silenceLimitMs: 250 });
    const { socket } = body as IncomingMessage;
    for (let silence = 0; silence < 3; silence++) await once(socket, 'timeout');

    expect(await text(body)).toBe(content);
  });

  test('fails to give a body whose connection ends before the announced length', async () => {
    server.respond = (_request, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('half', () => response.destroy());
    };

    const { body } = await call();

    await expect(text(body)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  test('whose server switches protocols instead of answering fails at once', async () => {
    server.respond = (_request, response) => {
      response.writeHead(101, { connection: 'upgrade', upgrade: 'other' }).end();
    };

    await expect(call()).rejects.toMatchObject({ name: 'NoAnswerError', code: 'NO_ANSWER' });
  });

  test('sends the length of its body, and asks for the connection to be closed', async () => {
    server.answer(200, 'ok');

    const { body } = await call({ method: 'POST', body: '{"ü":1}' });
    await text(body);

    expect(server.requests[0]?.headers).toMatchObject({ 'content-length': '8', connection: 'close' });
    expect(server.requests[0]?.headers['transfer-encoding']).toBeUndefined();
  });

  test.each([
    [3, undefined],
    [2, 'RESPONSE_TOO_LARGE'],
  ])('of 3 bytes is read by one who takes %i, or not: %p', async (maxResponseBytes, code) => {
    server.answer(200, 'abc');

    const { body } = await call({ maxResponseBytes });
    const read = text(body).catch((error: unknown) => error);
    expect(await read).toEqual(code === undefined ? 'abc' : expect.objectContaining({ code }));
  });

  test.each([
    ['http://name.example/', 80],
    ['https://name.example/', 443],
    ['http://name.example:8080/', 8080],
    ['https://[2001:db8::1]:8443/', 8443],
  ])('with %s dials the port %i', async (url, port) => {
    const connect = jest.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket) {
      return this.destroy(new Error('not dialled'));
    });
    const lookup: LookupFunction = (_host, _options, done) =>
      done(null, [{ address: '192.0.2.1', family: 4 }]);

    const signal = AbortSignal.timeout(20_000);
    await expect(exchange(new URL(url), { method: 'GET', headers: {}, signal, lookup })).rejects.toThrow(
      'not dialled',
    );

    const host = url.includes('[') ? '2001:db8::1' : '192.0.2.1';
    expect([connect.mock.calls[0]?.[0]].flat()[0]).toMatchObject({ host, port });
    connect.mockRestore();
  });

  test('whose signal has ended is not begun', async () => {
    await expect(call({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
    expect(server.requests).toEqual([]);
  });

  test('ends with its signal while it connects', async () => {
    const stop = new AbortController();
    const lookup: LookupFunction = () => stop.abort(new Error('enough'));
    const started = { method: 'GET', headers: {}, signal: stop.signal, lookup };

    await expect(exchange(new URL('http://name.example/'), started)).rejects.toThrow('enough');
  });

  test('ends with its signal, before and within the body', async () => {
    for (const respond of [
      () => undefined,
      (response: ServerResponse) => response.writeHead(200).write('a'),
    ]) {
      const stop = new AbortController();
      const asked = new Promise<void>((resolve) => {
        server.respond = (_request, response) => {
          respond(response);
          resolve();
        };
      });
      const reading = call({ signal: stop.signal }).then(({ body }) => text(body));
      const ended = expect(reading).rejects.toThrow('enough');
      await asked;
      stop.abort(new Error('enough'));
      await ended;
    }
  });

  test('uses no proxy that the environment names', async () => {
    process.env.HTTP_PROXY = 'http://127.0.0.1:1';
    try {
      server.answer(200, 'ok');
      expect(await text((await call()).body)).toBe('ok');
    } finally {
      delete process.env.HTTP_PROXY;
    }
  });
});
