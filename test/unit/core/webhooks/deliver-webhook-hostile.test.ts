import * as dns from 'node:dns';
import { createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { listWebhookAttempts } from '../../../../core/deliveries/webhook-attempts.ts';
import type { ResolveAll } from '../../../../core/guarded-http/guarded-http.ts';
import { StoppedClock } from '../../builders/clocks.ts';
import { REQUEST_ID } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { putFailedRequest, receiver } from '../../builders/webhook-world.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { aClosedUrl } from '../../servers/loopback-server.ts';

/** The addresses of every name: the code under test is loaded with this resolver instead of the system's. */
const resolve = jest.fn<ResolveAll>();
jest.unstable_mockModule('node:dns', () => ({ ...dns, lookup: resolve }));
const { deliverNext } = await import('../../builders/next-attempt.ts');

process.env.WEBHOOK_RETRY_SECONDS = '5,300';

/** A TCP server that treats each connection as the test says. */
let onConnection: (socket: Socket) => void = () => undefined;
const sockets = new Set<Socket>();
const rawServer = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => undefined);
  onConnection(socket);
});
await new Promise<void>((done) => rawServer.listen(0, '127.0.0.1', done));
const rawPort = (rawServer.address() as { port: number }).port;
const rawUrl = `http://127.0.0.1:${rawPort}/hook`;
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  rawServer.close();
});

beforeEach(() => {
  resolve.mockReset();
});
afterEach(() => {
  jest.restoreAllMocks();
});

const deliverTo = (webhookUrl: string) => {
  putFailedRequest({ webhookUrl });
  return deliverNext(memory, { subjectId: REQUEST_ID }, new StoppedClock(), () => 0.5);
};
const made = async () => (await listWebhookAttempts(REQUEST_ID)).map(({ status, error }) => status ?? error);
const ATTEMPT_AGAIN = { next: 'wait', waitSeconds: 5, attemptsMade: expect.any(Number) };
const leadTo = (...addresses: string[]) =>
  resolve.mockImplementation((_name, _options, callback) =>
    process.nextTick(
      callback,
      null,
      addresses.map((address) => ({ address, family: 4 })),
    ),
  );

/** Lets the test end the time a receiver has to answer. */
const outOfTime = (): (() => void) => {
  const controller = new AbortController();
  jest.spyOn(AbortSignal, 'timeout').mockReturnValue(controller.signal);
  return () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
};
/** Resolves when the sender has closed a connection. */
const released = (socket: Socket): Promise<void> => new Promise((done) => socket.once('close', () => done()));

describe('a receiver that does not answer in time gets another attempt', () => {
  test('and is given 15 s', async () => {
    const given = jest.spyOn(AbortSignal, 'timeout');

    await deliverTo(receiver.url);

    expect(given.mock.calls).toEqual([[15_000]]);
  });

  test.each([
    ['sends nothing', ''],
    ['begins a status line and stops', 'HTTP/1.1 2'],
    ['sends headers without an end', 'HTTP/1.1 200 OK\r\nx-slow: 1\r\n'],
    ['sends informational responses only', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ])('when it %s', async (_what, said) => {
    const expire = outOfTime();
    let closed: Promise<void> | undefined;
    onConnection = (socket) => {
      closed = released(socket);
      socket.once('data', () => socket.write(said, () => setImmediate(expire)));
    };

    expect(await deliverTo(rawUrl)).toEqual(ATTEMPT_AGAIN);
    expect(await made()).toEqual(['timeout']);
    await closed;
  });
});

describe('an answer costs no more than its status and headers', () => {
  // The connection is closed at once, not when the time to answer is up.
  beforeEach(() => {
    outOfTime();
  });

  /** Writes until the other side closes; resolves to the number of bytes it accepted. */
  const flood = (socket: Socket, head: string, more: string): Promise<number> => {
    const chunk = Buffer.from(more.repeat(Math.ceil(65_536 / more.length)));
    socket.write(head);
    const push = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', push);
    push();
    return released(socket).then(() => socket.bytesWritten - socket.writableLength);
  };
  /** The most bytes the kernels of both sides may buffer; these receivers would send without end. */
  const SOCKET_BUFFERS = 32 * 2 ** 20;

  const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  const TERABYTE = 'HTTP/1.1 500 No\r\ncontent-length: 1000000000000\r\n\r\n';
  const OPEN_HEADERS = 'HTTP/1.1 200 OK\r\n';
  test.each([
    ['its body never ends: it is delivered', CHUNKED, 'a\r\n0123456789\r\n', { next: 'stop' }, 200],
    ['its body is announced as 1 TB', TERABYTE, 'x', ATTEMPT_AGAIN, 500],
    [
      'its headers never end: it is no answer',
      OPEN_HEADERS,
      `x-more: ${'y'.repeat(50)}\r\n`,
      ATTEMPT_AGAIN,
      'HPE_HEADER_OVERFLOW',
    ],
  ])('when %s, and the rest is not read', async (_what, head, more, step, outcome) => {
    const sent = Promise.withResolvers<number>();
    onConnection = (socket) => socket.once('data', () => sent.resolve(flood(socket, head, more)));

    expect(await deliverTo(rawUrl)).toEqual(step);
    expect(await made()).toEqual([outcome]);
    expect(await sent.promise).toBeLessThan(SOCKET_BUFFERS);
  });

  test('when its body never comes: it is not waited for', async () => {
    let closed: Promise<void> | undefined;
    onConnection = (socket) => {
      closed = released(socket);
      socket.once('data', () => socket.write('HTTP/1.1 202 Accepted\r\ncontent-length: 5\r\n\r\n'));
    };

    expect(await deliverTo(rawUrl)).toEqual({ next: 'stop' });
    await closed;
  });
});

describe('a failure below HTTP is recorded by its class, and attempted again:', () => {
  test.each<[string, () => string | Promise<string>, string]>([
    ['the connection is refused', () => aClosedUrl(), 'ECONNREFUSED'],
    [
      'the receiver speaks no TLS',
      () => receiver.url.replace('http:', 'https:'),
      'ERR_SSL_WRONG_VERSION_NUMBER',
    ],
  ])('%s', async (_what, url, error) => {
    expect(await deliverTo(await url())).toEqual(ATTEMPT_AGAIN);
    expect(await made()).toEqual([error]);
  });

  test.each([
    ['the connection is closed without an answer', (socket: Socket) => socket.end(), 'ECONNRESET'],
    ['the connection is reset', (socket: Socket) => socket.resetAndDestroy(), 'ECONNRESET'],
    ['the answer is no HTTP', (socket: Socket) => socket.end('hello\r\n\r\n'), 'HPE_INVALID_CONSTANT'],
  ])('%s', async (_what, act, error) => {
    onConnection = (socket) => socket.once('data', () => act(socket));

    expect(await deliverTo(rawUrl)).toEqual(ATTEMPT_AGAIN);
    expect(await made()).toEqual([error]);
  });

  test('the name does not resolve', async () => {
    resolve.mockImplementation((name, _options, callback) =>
      process.nextTick(
        callback,
        Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }),
        [],
      ),
    );

    expect(await deliverTo('https://nobody.example/hook')).toEqual(ATTEMPT_AGAIN);
    expect(await made()).toEqual(['ENOTFOUND']);
  });
});

describe('a refused target is a failed attempt like any other, without a connection', () => {
  const publicly = (run: () => Promise<void>) => withEnvironment({ ALLOW_PRIVATE_TARGETS: 'false' }, run);
  const { port } = receiver;
  const expectRefused = async (url: string) => {
    expect(await deliverTo(url)).toEqual(ATTEMPT_AGAIN);
    expect(await made()).toEqual(['target_refused']);
    expect(receiver.connections).toBe(0);
  };

  test.each([
    ['its own machine over http', `http://127.0.0.1:${port}/hook`],
    ['its own machine', `https://127.0.0.1:${port}/hook`],
    ['its own machine as a mapped IPv6 address', `https://[::ffff:127.0.0.1]:${port}/hook`],
    ['the instance metadata', 'https://169.254.169.254/latest/meta-data/'],
    ['a URL with credentials', `https://user:secret@receiver.example:${port}/hook`],
    ['the port of another service', 'https://receiver.example:25/hook'],
  ])('when it is %s', async (_what, url) => {
    await publicly(() => expectRefused(url));
    expect(resolve).not.toHaveBeenCalled();
  });

  test.each([
    ['receiver.example', ['127.0.0.1']],
    ['receiver.example', ['10.0.0.7']],
    ['receiver.example', ['93.184.215.14', '127.0.0.1']],
    ['localhost', ['127.0.0.1']],
  ])('when its name, %s, resolves to %p', async (name, addresses) => {
    leadTo(...addresses);

    await publicly(() => expectRefused(`https://${name}:${port}/hook`));
    expect(resolve).toHaveBeenCalledTimes(1);
  });

  test('and the next attempt is made when the name leads to an allowed receiver by then', async () => {
    leadTo('169.254.169.254');
    expect(await deliverTo(`http://receiver.example:${port}/hook`)).toEqual(ATTEMPT_AGAIN);
    leadTo('127.0.0.1');

    expect(await deliverTo(`http://receiver.example:${port}/hook`)).toEqual({ next: 'stop' });
    expect(receiver.connections).toBe(1);
  });
});
