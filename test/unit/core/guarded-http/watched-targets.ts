import { type AddressInfo, createServer, Socket } from 'node:net';
import { afterAll, beforeEach, jest } from '@jest/globals';
import type { ResolveAll } from '../../../../core/guarded-http/guarded-http.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { LoopbackServer } from '../../servers/loopback-server.ts';

/** A server on the own machine. */
export const server = await new LoopbackServer().start();
export const { port } = new URL(server.url);
/** Data that a silent TCP listener received: an entry proves that a connection was opened. */
export const heard: Buffer[] = [];
const listener = createServer((socket) =>
  socket.once('data', (data) => heard.push(data) && socket.destroy()),
);
await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
/** The port of the silent listener. */
export const listenerPort = (listener.address() as AddressInfo).port;

/** Sockets tell of each address just before they dial it, whichever module made them. */
export const emit = jest.spyOn(Socket.prototype, 'emit');
/** The addresses dialled so far, in order. */
export const dialled = () =>
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

/** A time limit that no test reaches. */
export const options = () => ({ signal: AbortSignal.timeout(20_000) });
/** Runs where private targets are allowed. */
export const locally = <T>(run: () => Promise<T>) => withEnvironment({ ALLOW_PRIVATE_TARGETS: 'true' }, run);
/** A resolver that answers each query with the next list of addresses, and repeats the last list. */
export const resolving = (...answers: string[][]) =>
  jest.fn<ResolveAll>((_hostname, _options, callback) => {
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
    process.nextTick(
      callback,
      null,
      answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  });
/** A resolver that makes every name the own machine. */
export const toLoopback = () => resolving(['127.0.0.1']);
