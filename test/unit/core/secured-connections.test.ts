import { type AddressInfo, createServer, type LookupFunction, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { openConnection } from '../../../core/connection.ts';

const RECORD_HEADER_BYTES = 5;
const accepted = new Set<Socket>();
let hello = Buffer.alloc(0);
/** Reads the first record of a handshake, which is not encrypted, and hangs up. */
const server = createServer((socket) => {
  accepted.add(socket);
  socket
    .on('error', () => undefined)
    .on('data', (chunk) => {
      hello = Buffer.concat([hello, chunk]);
      if (hello.length < RECORD_HEADER_BYTES) return;
      if (hello.length >= RECORD_HEADER_BYTES + hello.readUInt16BE(3)) socket.destroy();
    });
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  for (const socket of accepted) socket.destroy();
  server.close();
});
beforeEach(() => {
  hello = Buffer.alloc(0);
});

const lookup: LookupFunction = (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]);

const addressOf = () => ({ port: (server.address() as AddressInfo).port, isSecure: true, lookup });

test('a secured connection that is stopped within its handshake is closed', async () => {
  const silent = createServer((socket) => socket.on('error', () => undefined).resume());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const stop = new AbortController();
  const closed = new Promise((resolve) => {
    silent.once('connection', (socket) => {
      socket.once('data', () => stop.abort(new Error('enough'))).once('close', resolve);
    });
  });

  const connecting = openConnection({ ...addressOf(), host: '127.0.0.1', port, signal: stop.signal });

  await expect(connecting).rejects.toThrow('enough');
  await closed;
  silent.close();
});

test.each([
  ['a name says the name, so that one address can serve many', 'api.example.com', true],
  ['an address says no name, which RFC 6066 allows for names only', '127.0.0.1', false],
])('a secured connection to %s', async (_, host, isNamed) => {
  await expect(openConnection({ ...addressOf(), host })).rejects.toMatchObject({
    code: 'ECONNRESET',
  });

  expect(hello.includes(host)).toBe(isNamed);
  expect(hello.includes('http/1.1')).toBe(true);
});
