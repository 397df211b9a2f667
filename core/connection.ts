import dns, { type LookupAddress } from 'node:dns';
import { Agent, type RequestOptions } from 'node:https';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Time limit to connect, with DNS lookup, all addresses and TLS. */
export const CONNECT_TIMEOUT_MS = 5_000;

/** Pause before the next address is dialled as well (RFC 8305, 5: Connection Attempt Delay). */
const NEXT_ADDRESS_MS = 250;

/** No connection within 5 s: nothing was sent. */
class ConnectTimeoutError extends Error {
  override name = 'ConnectTimeoutError';
  readonly code = 'CONNECT_TIMEOUT';
}

/** The server of a connection, and what ends the attempt to connect. */
export interface Connecting {
  /** A name or an IP address, without brackets. */
  host: string;
  port: number;
  isSecure: boolean;
  /** Resolves the host's name; Node's resolver by default. Not called for an IP address. */
  lookup?: LookupFunction | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Opens a connection of which TLS is complete. Dials the addresses of both families one after another and keeps each attempt
 * until one of them connects: Node gives up every address but the last after 250 ms. Throws the signal's reason,
 * `ConnectTimeoutError` after 5 s, the error of `lookup`, and Node's errors, which have a `code`.
 */
export const openConnection = async (server: Connecting): Promise<Socket> => {
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new ConnectTimeoutError('The connection took too long.')),
    CONNECT_TIMEOUT_MS,
  );
  const signal = server.signal ? AbortSignal.any([server.signal, late.signal]) : late.signal;
  try {
    const addresses = await addressesOf(server, signal);
    const socket = await firstToConnect(addresses, server.port, signal);
    return server.isSecure ? await secured(socket, server.host, signal) : socket;
  } finally {
    clearTimeout(timer);
  }
};

/** An agent of HTTPS that opens its connections so, for clients that take an agent. */
export class ConnectingAgent extends Agent {
  override createConnection(
    { host, port, lookup }: RequestOptions,
    onConnected?: (error: Error | null, socket: Socket) => void,
  ): undefined {
    const server = { host: host ?? 'localhost', port: Number(port ?? 443), isSecure: true, lookup };
    const onFailure = onConnected as (error: Error) => void;
    openConnection(server).then(
      (socket) => onConnected?.(null, socket),
      // Named as the AWS SDK knows it, which then tries again.
      (error: Error) =>
        onFailure(
          error instanceof ConnectTimeoutError ? Object.assign(error, { name: 'TimeoutError' }) : error,
        ),
    );
  }
}

/** The signal's reason as a rejection, until `release` is called. */
const abortOf = (signal: AbortSignal): { aborted: Promise<never>; release: () => void } => {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  aborted.catch(() => undefined);
  return { aborted, release: () => signal.removeEventListener('abort', stop) };
};

/** The addresses of a server, its families in turn. */
const addressesOf = async ({ host, lookup }: Connecting, signal: AbortSignal): Promise<LookupAddress[]> => {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  const { promise, resolve, reject } = Promise.withResolvers<LookupAddress[]>();
  const { aborted, release } = abortOf(signal);
  // Called as Node calls it, for whoever has replaced it.
  const resolveAll = lookup ?? (dns.lookup as LookupFunction);
  resolveAll(host, { all: true }, (error, found) => {
    if (error) reject(error);
    else resolve(found as LookupAddress[]);
  });
  try {
    return inTurn(await Promise.race([promise, aborted]));
  } finally {
    release();
  }
};

const inTurn = (addresses: LookupAddress[]): LookupAddress[] => {
  const first = addresses.filter(({ family }) => family === addresses[0]?.family);
  const second = addresses.filter(({ family }) => family !== addresses[0]?.family);
  const longest = Math.max(first.length, second.length);
  return Array.from({ length: longest }, (_, index) => [first[index], second[index]])
    .flat()
    .filter((address) => address !== undefined);
};

/** Errors of a machine without a way to an address, which say nothing about the server. */
const NO_WAY = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT']);

const firstToConnect = async (
  addresses: LookupAddress[],
  port: number,
  signal: AbortSignal,
): Promise<Socket> => {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const waiting = [...addresses];
  const dialled = new Set<Socket>();
  const errors: NodeJS.ErrnoException[] = [];
  let timer: NodeJS.Timeout | undefined;
  const dialNext = (): void => {
    clearTimeout(timer);
    const address = waiting.shift();
    if (!address) {
      failIfNoneIsLeft();
      return;
    }
    const socket = connectTcp({ host: address.address, port, noDelay: true });
    dialled.add(socket);
    socket.once('connect', () => resolve(socket));
    socket.on('error', (error) => {
      errors.push(error);
      dialled.delete(socket);
      dialNext();
    });
    timer = setTimeout(dialNext, NEXT_ADDRESS_MS);
  };
  const failIfNoneIsLeft = (): void => {
    const error = errors.find(({ code }) => !NO_WAY.has(code ?? '')) ?? errors[0];
    if (dialled.size === 0) reject(error ?? Object.assign(new Error('No address.'), { code: 'ENOTFOUND' }));
  };
  const { aborted, release } = abortOf(signal);
  dialNext();
  try {
    const socket = await Promise.race([promise, aborted]);
    dialled.delete(socket);
    return socket.removeAllListeners('error');
  } finally {
    clearTimeout(timer);
    release();
    for (const socket of dialled) socket.destroy();
  }
};

const secured = async (socket: Socket, host: string, signal: AbortSignal): Promise<Socket> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const { aborted, release } = abortOf(signal);
  const name = isIP(host) === 0 ? { servername: host } : {};
  const tls = connectTls({ socket, ...name, ALPNProtocols: ['http/1.1'] });
  tls.once('secureConnect', resolve).once('error', reject);
  try {
    await Promise.race([promise, aborted]);
    return tls.off('error', reject);
  } catch (error) {
    tls.on('error', () => undefined).destroy();
    throw error;
  } finally {
    release();
  }
};
