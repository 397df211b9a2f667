import dns, { type LookupAddress } from 'node:dns';
import { Agent, type RequestOptions } from 'node:https';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Time limit to connect, with DNS lookup, all addresses and TLS. */
export const CONNECT_TIMEOUT_MS = 5_000;

/** Pause before the next address is dialled as well (RFC 8305, 5: Connection Attempt Delay). */
const NEXT_ADDRESS_MS = 250;

/** The server was not connected within 5 s, so nothing was sent. */
class ConnectTimeoutError extends Error {
  override name = 'ConnectTimeoutError';
  readonly code = 'CONNECT_TIMEOUT';
}

/** The server of a connection, and the signal that ends the attempt to connect. */
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
 * Opens a connection, TLS handshake included. Dials the addresses of both families in turn, 250 ms apart, and keeps every attempt
 * until the first connects. Node's own dialling gives up each address but the last after 250 ms. Throws the signal's reason,
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

/** An HTTPS agent that connects by `openConnection`, for clients that take an agent. */
export class ConnectingAgent extends Agent {
  override createConnection(
    { host, port, lookup }: RequestOptions,
    onConnected?: (error: Error | null, socket: Socket) => void,
  ): undefined {
    const server = { host: host ?? 'localhost', port: Number(port ?? 443), isSecure: true, lookup };
    const onFailure = onConnected as (error: Error) => void;
    openConnection(server).then(
      (socket) => onConnected?.(null, socket),
      // The AWS SDK retries an error of this name.
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
  // Called with Node's arguments, because a test or tracer may have replaced `dns.lookup`.
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
  const { aborted, release } = abortOf(signal);
  const { connected, dialled, stopDialling } = dialInTurn(addresses, port);
  try {
    const socket = await Promise.race([connected, aborted]);
    dialled.delete(socket);
    return socket.removeAllListeners('error');
  } finally {
    stopDialling();
    release();
    for (const socket of dialled) socket.destroy();
  }
};

/**
 * Dials addresses one after another: the next address 250 ms after the last, or at once after an error. `connected` is the first socket that
 * connects; it rejects once every address has failed. `dialled` has the sockets without an error so far, which the caller destroys.
 */
const dialInTurn = (
  addresses: readonly LookupAddress[],
  port: number,
): { connected: Promise<Socket>; dialled: Set<Socket>; stopDialling: () => void } => {
  const { promise: connected, resolve, reject } = Promise.withResolvers<Socket>();
  const waiting = [...addresses];
  const dialled = new Set<Socket>();
  const errors: NodeJS.ErrnoException[] = [];
  let timer: NodeJS.Timeout | undefined;
  const dialNext = (): void => {
    clearTimeout(timer);
    const address = waiting.shift();
    if (!address) {
      if (dialled.size === 0) reject(connectError(errors));
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
  dialNext();
  return { connected, dialled, stopDialling: () => clearTimeout(timer) };
};

/** The error to report for a server that did not connect: the first error of the server or, without one, of this machine. */
const connectError = (errors: readonly NodeJS.ErrnoException[]): Error =>
  errors.find(({ code }) => !NO_WAY.has(code ?? '')) ??
  errors[0] ??
  Object.assign(new Error('No address.'), { code: 'ENOTFOUND' });

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
