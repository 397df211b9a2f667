import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { json, text } from 'node:stream/consumers';
import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { guardedRequest, type ResolveAll } from '../../../../core/guarded-http/guarded-http.ts';
import { withEnvironment } from '../../builders/environment.ts';
import {
  HOSTILE_URLS,
  LOCAL_ADDRESSES,
  PUBLIC_ADDRESSES,
  REFUSED_ADDRESSES,
} from '../../builders/hostile-targets.ts';
import { aClosedUrl, LoopbackServer } from '../../servers/loopback-server.ts';

const server = await new LoopbackServer().start();
const { port } = new URL(server.url);
/** Data that a silent TCP listener received: an entry proves that a connection was opened. */
const heard: Buffer[] = [];
const listener = createServer((socket) =>
  socket.once('data', (data) => heard.push(data) && socket.destroy()),
);
await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
const listenerPort = (listener.address() as AddressInfo).port;

/** Sockets tell of each address just before they dial it, whichever module made them. */
const emit = jest.spyOn(Socket.prototype, 'emit');
const dialled = () =>
  (emit.mock.calls as unknown[][])
    .filter(([event]) => event === 'connectionAttempt')
    .map(([, address]) => address);

beforeEach(() => {
  server.reset();
  heard.length = 0;
  emit.mockClear();
});
afterAll(async () => {
  await server.close();
  listener.close();
});

const options = () => ({ signal: AbortSignal.timeout(20_000) });
const locally = <T>(run: () => Promise<T>) => withEnvironment({ ALLOW_PRIVATE_TARGETS: 'true' }, run);
const asHost = (address: string) => (address.includes(':') ? `[${address}]` : address);
/** A resolver that answers each query with the next list of addresses, and repeats the last list. */
const resolving = (...answers: string[][]) =>
  jest.fn<ResolveAll>((_hostname, _options, callback) => {
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
    process.nextTick(
      callback,
      null,
      answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  });
/** A resolver that makes every name the own machine. */
const toLoopback = () => resolving(['127.0.0.1']);

const expectRefused = async (call: Promise<unknown>, reason?: string) => {
  await expect(call).rejects.toMatchObject({ name: 'TargetRefusedError', ...(reason && { reason }) });
  expect(dialled()).toEqual([]);
  expect(heard).toEqual([]);
  expect(server.requests).toEqual([]);
};

describe('no connection is opened', () => {
  test.each(HOSTILE_URLS)('to %p', async (url) => {
    await expectRefused(guardedRequest(url, options(), toLoopback()));
  });

  test.each([...REFUSED_ADDRESSES, ...LOCAL_ADDRESSES].filter((address) => !address.includes('%')))(
    'to the address %s, which nobody looks up',
    async (address) => {
      const resolve = resolving(['93.184.215.14']);

      await expectRefused(guardedRequest(`https://${asHost(address)}/`, options(), resolve), 'address');

      expect(resolve).not.toHaveBeenCalled();
    },
  );

  test.each(['https://localhost/', 'https://localhost./'])(
    'to %s, whatever the system makes of it',
    async (url) => {
      await expect(guardedRequest(url, options())).rejects.toThrow();
      expect(dialled()).toEqual([]);
    },
  );

  test.each([
    `https://127.0.0.1:PORT/`,
    'https://2130706433:PORT/',
    'https://[::ffff:127.0.0.1]:PORT/',
    'http://127.0.0.1:PORT/',
  ])('to %s, where a server listens', async (url) => {
    await expectRefused(guardedRequest(url.replace('PORT', String(listenerPort)), options()));
  });

  test.each([...REFUSED_ADDRESSES, ...LOCAL_ADDRESSES])(
    'to a name that leads to %s, alone or beside public addresses, in any order',
    async (address) => {
      const [first = '', second = ''] = PUBLIC_ADDRESSES;
      const url = `https://name.example:${listenerPort}/`;
      for (const addresses of [[address], [first, second, address], [address, first]])
        await expectRefused(guardedRequest(url, options(), resolving(addresses)), 'address');
    },
  );

  test.each(REFUSED_ADDRESSES)('to %s where private targets are allowed', async (address) => {
    const url = 'https://name.example/';
    await locally(async () => {
      if (!address.includes('%'))
        await expectRefused(guardedRequest(`https://${asHost(address)}/`, options()), 'address');
      for (const addresses of [[address], ['127.0.0.1', address]])
        await expectRefused(guardedRequest(url, options(), resolving(addresses)), 'address');
    });
  });

  test.each([['10.0.0.1'], ['93.184.215.14'], ['127.0.0.1', '10.0.0.1'], ['::1', '2606:4700::1111']])(
    'over plain http to a name that leads to %s and %s',
    async (...addresses) => {
      await locally(() =>
        expectRefused(guardedRequest('http://name.example/', options(), resolving(addresses)), 'address'),
      );
    },
  );

  test('to a name without addresses', async () => {
    await expectRefused(guardedRequest('https://name.example/', options(), resolving([])));
  });

  test('to what a name leads to once it has changed, though it was fine a moment ago', async () => {
    await locally(async () => {
      const resolve = resolving(['127.0.0.1'], ['169.254.169.254']);
      const url = `http://name.example:${port}/`;
      const first = await guardedRequest(url, options(), resolve);
      await text(first.body);
      expect([first.statusCode, dialled(), server.requests.length]).toEqual([404, ['127.0.0.1'], 1]);
      emit.mockClear();
      server.reset();

      await expectRefused(guardedRequest(url, options(), resolve), 'address');
    });
  });

  test('after a failed lookup, which is not a refusal', async () => {
    const failing: ResolveAll = (_hostname, _options, callback) =>
      process.nextTick(callback, Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);

    await expect(guardedRequest('https://name.example/', options(), failing)).rejects.toMatchObject({
      code: 'ENOTFOUND',
    });
    expect(dialled()).toEqual([]);
  });
});

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
