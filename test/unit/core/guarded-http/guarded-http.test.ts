import type { IncomingMessage, ServerResponse } from 'node:http';
import { json, text } from 'node:stream/consumers';
import { describe, expect, jest, test } from '@jest/globals';
import { guardedRequest, type ResolveAll } from '../../../../core/guarded-http/guarded-http.ts';
import { aClosedUrl } from '../../servers/loopback-server.ts';
import {
  dialled,
  heard,
  listenerPort,
  locally,
  options,
  port,
  resolving,
  server,
  toLoopback,
} from './watched-targets.ts';

describe('a guarded request', () => {
  test('goes to the checked address, resolved once', async () => {
    await locally(async () => {
      const resolve = resolving(['127.0.0.1'], ['10.0.0.1']);
      server.answer(201, { fine: true }, { 'x-own': 'header' });

      const { statusCode, headers, body } = await guardedRequest(
        `http://name.example:${port}/hook?a=b`,
        { ...options(), method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"n":1}' },
        resolve,
      );

      expect([statusCode, headers['x-own'], await json(body)]).toEqual([201, 'header', { fine: true }]);
      expect(dialled()).toEqual(['127.0.0.1']);
      expect(resolve).toHaveBeenCalledTimes(1);
      expect(server.requests).toMatchObject([
        {
          method: 'POST',
          path: '/hook?a=b',
          headers: {
            host: `name.example:${port}`,
            'content-type': 'application/json',
            'user-agent': 'generation-service/1.2.3 (+https://operator.example)',
          },
          body: { n: 1 },
        },
      ]);
    });
  });

  test('names the host in the TLS handshake, not its address', async () => {
    await locally(() =>
      expect(
        guardedRequest(`https://files.example:${listenerPort}/`, options(), toLoopback()),
      ).rejects.not.toMatchObject({ name: 'TargetRefusedError' }),
    );

    expect(Buffer.concat(heard).includes('files.example')).toBe(true);
  });

  test.each([301, 302, 303, 307, 308])('does not follow a redirect with status %p', async (status) => {
    server.answer(status, '', { location: `http://127.0.0.1:${listenerPort}/` });

    const answer = await locally(() => guardedRequest(server.url, options()));

    await text(answer.body);
    expect(answer.statusCode).toBe(status);
    expect(server.requests).toHaveLength(1);
    expect(heard).toEqual([]);
  });

  test('has a connection of its own, resolved anew', async () => {
    await locally(async () => {
      const resolve = toLoopback();
      for (const _ of [1, 2]) {
        const { body } = await guardedRequest(`http://name.example:${port}/`, options(), resolve);
        await text(body);
      }

      expect(resolve).toHaveBeenCalledTimes(2);
      expect(dialled()).toEqual(['127.0.0.1', '127.0.0.1']);
      expect(server.requests[0]?.headers.connection).toBe('close');
    });
  });

  test('uses the next address when the first does not answer', async () => {
    const resolve = resolving(['127.0.0.2', '127.0.0.1']);

    const { statusCode, body } = await locally(() =>
      guardedRequest(`http://name.example:${port}/`, options(), resolve),
    );

    await text(body);
    expect(statusCode).toBe(404);
    expect(dialled()).toEqual(['127.0.0.2', '127.0.0.1']);
  });

  test('to a closed port is no refusal', async () => {
    const url = await aClosedUrl();

    await locally(() =>
      expect(guardedRequest(url, options())).rejects.toMatchObject({ code: 'ECONNREFUSED' }),
    );
  });

  test.each<[string, number, Record<string, string>]>([
    ['all of a body of exactly what it may have', 1_000, {}],
    [
      'no more of a body than it may have, of a server that says so before',
      1_001,
      { 'content-length': '1001' },
    ],
    ['no more of a body than it may have, of a server that does not say so', 1_001, {}],
  ])('gives %s', async (_, length, headers) => {
    server.respond = (_request, response) => response.writeHead(200, headers).end('a'.repeat(length));

    await locally(async () => {
      const { body } = await guardedRequest(server.url, { ...options(), maxResponseBytes: 1_000 });
      const read = text(body);
      if (length <= 1_000) expect(await read).toHaveLength(length);
      else await expect(read).rejects.toMatchObject({ name: 'ResponseExceededMaxSizeError' });
    });
  });

  describe('is ended by its signal', () => {
    const stopped = new Error('stopped');

    test('before it begins', async () => {
      const resolve = toLoopback();

      await expect(
        guardedRequest('https://name.example/', { signal: AbortSignal.abort(stopped) }, resolve),
      ).rejects.toBe(stopped);
      expect(resolve).not.toHaveBeenCalled();
    });

    test('during the DNS lookup', async () => {
      const stop = new AbortController();
      const resolve = jest.fn<ResolveAll>(() => stop.abort(stopped));

      await expect(guardedRequest('https://name.example/', { signal: stop.signal }, resolve)).rejects.toBe(
        stopped,
      );
      expect(resolve).toHaveBeenCalledTimes(1);
    });

    test.each<[string, (response: ServerResponse, stop: () => void) => void]>([
      ['before the headers', (_, stop) => stop()],
      ['within the body', (response, stop) => response.writeHead(200).write('a', stop)],
    ])('%s, and lets go of the connection', async (_, respond) => {
      const stop = new AbortController();
      const closed = Promise.withResolvers<void>();
      server.respond = (_request, response, incoming: IncomingMessage) => {
        incoming.socket.on('close', closed.resolve);
        respond(response, () => stop.abort(stopped));
      };

      await locally(() =>
        expect(
          guardedRequest(server.url, { signal: stop.signal }).then(({ body }) => text(body)),
        ).rejects.toBe(stopped),
      );
      await closed.promise;
    });
  });
});
