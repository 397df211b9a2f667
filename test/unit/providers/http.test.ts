import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import dns from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { callProvider, type HttpAnswer } from '../../../providers/http.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

/** Has every connection fail with this code before it is there. */
const failingToConnect = (code: string): void => {
  const failing = (_hostname: string, _options: object, callback: (error: Error) => void): void => {
    process.nextTick(callback, Object.assign(new Error('not connected'), { code }));
  };
  jest.spyOn(dns, 'lookup').mockImplementation(failing as unknown as typeof dns.lookup);
};

const call = (url = 'http://provider.example/') =>
  callProvider('POST', url, {
    headers: {},
    body: {},
    signal: new AbortController().signal,
  });

describe('a call of a provider', () => {
  test.each([
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'ETIMEDOUT',
    'CONNECT_TIMEOUT',
  ])('that fails with %s has not reached it, and may be made again', async (code) => {
    failingToConnect(code);

    expect(await call()).toEqual({ kind: 'unreached', reason: code });
  });

  /** Calls a server that does this with a connection, and counts what it gets. */
  const callOf = async (scheme: string, act: (socket: Socket) => void): Promise<HttpAnswer> => {
    const server = createServer(act).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      return await call(`${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    } finally {
      server.close();
    }
  };

  test('whose answer does not end is given up at 16 MiB, and may have reached it', async () => {
    const answer = callOf('http', (socket) => {
      socket.on('error', () => undefined).write('HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n');
      socket.write(Buffer.alloc(16 * 1024 * 1024 + 1));
    });

    expect(await answer).toEqual({ kind: 'broken', reason: 'RESPONSE_TOO_LARGE' });
  });

  test.each<[string, (socket: Socket) => void, string]>([
    ['ends', (socket) => socket.destroy(), 'ECONNRESET'],
    [
      'does not succeed',
      (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      'ERR_SSL_WRONG_VERSION_NUMBER',
    ],
  ])('whose handshake %s has not reached it', async (_, act, reason) => {
    expect(await callOf('https', act)).toEqual({ kind: 'unreached', reason });
  });

  test.each<[string, (socket: Socket) => void, string]>([
    ['ends', (socket) => socket.once('data', () => socket.destroy()), 'ECONNRESET'],
    ['brings no HTTP', (socket) => socket.once('data', () => socket.end('nothing')), 'HPE_INVALID_CONSTANT'],
  ])('whose connection %s after it was sent may have reached it', async (_, act, reason) => {
    expect(await callOf('http', act)).toEqual({ kind: 'broken', reason });
  });

  test.each(['read', 'write'])(
    'whose network becomes unreachable at a %s, after it connected, may have reached it',
    async (syscall) => {
      const error = Object.assign(new Error('unreachable'), { code: 'EHOSTUNREACH', syscall });
      const clients: Socket[] = [];
      const keep = (message: unknown): void => void clients.push((message as { socket: Socket }).socket);
      subscribe('net.client.socket', keep);
      const answer = await callOf('http', (socket) => socket.once('data', () => clients[0]?.destroy(error)));
      unsubscribe('net.client.socket', keep);

      expect(answer).toEqual({ kind: 'broken', reason: 'EHOSTUNREACH' });
    },
  );
});
