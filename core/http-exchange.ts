import { type ClientRequest, type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { pipeline, type Readable, Transform } from 'node:stream';
import { openConnection } from './connection.ts';

/** An HTTP request and its limits. */
export interface ExchangeOptions {
  method: string;
  headers: Record<string, string>;
  body?: string | undefined;
  /** Ends the exchange with its reason at any time, reading the response's body included. */
  signal: AbortSignal;
  /** Resolves the host's name; Node's resolver by default. Not called for an IP address. */
  lookup?: LookupFunction;
  /** Longest wait for the headers, and for each next part of the body; unlimited by default. */
  silenceLimitMs?: number;
  /** Called once the connection is open, TLS included. A failure before this call means that nothing was sent. */
  onConnected?: () => void;
  /** Reading a longer body throws `ResponseExceededMaxSizeError`; unlimited by default. */
  maxResponseBytes?: number | undefined;
}

/** A response whose headers have arrived. Read or destroy its body: until then it holds the connection. */
export interface ExchangeResponse {
  statusCode: number;
  headers: IncomingHttpHeaders;
  /** Fails when the connection ends before the announced length. */
  body: Readable;
}

/** The server was silent for too long. */
export class SilenceError extends Error {
  override name = 'SilenceError';
  readonly code = 'SILENCE_TIMEOUT';
}

/** The connection closed without an answer, as when the server switches protocols (101). The request may have arrived. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError';
  readonly code = 'NO_ANSWER';
}

/** A body is longer than the caller takes. */
export class ResponseExceededMaxSizeError extends Error {
  override name = 'ResponseExceededMaxSizeError';
  readonly code = 'RESPONSE_TOO_LARGE';
}

/** Silence after which TCP probes the server, so that gateways keep a connection whose answer takes minutes. */
const PROBE_AFTER_MS = 60_000;

/**
 * Sends a request over HTTP/1.1 and returns the response once its headers are there. Follows no redirect,
 * uses no proxy and never sends twice. Throws what `openConnection` throws, the signal's reason, `SilenceError`,
 * `NoAnswerError`, and Node's errors, which have a `code`.
 */
export const exchange = async (url: URL, options: ExchangeOptions): Promise<ExchangeResponse> => {
  const { method, headers, body, signal, silenceLimitMs = 0, maxResponseBytes } = options;
  signal.throwIfAborted();
  const connection = await connectTo(url, options);
  options.onConnected?.();
  const requestBy = isSecure(url) ? requestHttps : requestHttp;
  const request = requestBy(url, { method, headers, createConnection: () => connection });
  const { promise, resolve, reject } = Promise.withResolvers<ExchangeResponse>();
  let response: Readable | undefined;
  const end = (reason: Error): void => {
    reject(reason);
    (response ?? request).destroy(reason);
  };
  const stop = (): void => end(signal.reason);
  signal.addEventListener('abort', stop);
  request.once('close', () => {
    signal.removeEventListener('abort', stop);
    // Node closes the connection without an error after a 101. In other cases the promise is settled already.
    reject(new NoAnswerError('The connection was closed without an answer.'));
  });
  // The listener stays: a connection may also fail while the body is read, and reading the body fails with it.
  request.on('error', reject);
  watchSilence(request, silenceLimitMs, {
    // Data that waits for its reader is no silence.
    hasUnread: () => (response?.readableLength ?? 0) > 0,
    onSilence: () => end(new SilenceError('The server was silent for too long.')),
  });
  request.setSocketKeepAlive(true, PROBE_AFTER_MS);
  request.once('response', (incoming) => {
    response = incoming;
    const limited = maxResponseBytes === undefined ? incoming : limitedTo(maxResponseBytes, incoming);
    resolve({ statusCode: incoming.statusCode ?? 0, headers: incoming.headers, body: limited });
  });
  request.end(body);
  return promise;
};

const isSecure = ({ protocol }: URL): boolean => protocol === 'https:';

const connectTo = (url: URL, { lookup, signal }: ExchangeOptions): Promise<Socket> =>
  openConnection({
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port) || (isSecure(url) ? 443 : 80),
    isSecure: isSecure(url),
    lookup,
    signal,
  });

/** Calls `onSilence` once a request's connection has been silent for longer than `limitMs`; 0: never. */
const watchSilence = (
  request: ClientRequest,
  limitMs: number,
  { hasUnread, onSilence }: { hasUnread: () => boolean; onSilence: () => void },
): void => {
  request.once('socket', (socket) => {
    const watch = (): void => {
      const { bytesRead } = socket;
      // A process that was busy first reads the data that arrived in the meantime.
      setImmediate(() => {
        const isHeard = socket.bytesRead > bytesRead || hasUnread();
        if (isHeard) socket.setTimeout(limitMs);
        else onSilence();
      });
    };
    socket.setTimeout(limitMs).on('timeout', watch);
    request.once('close', () => socket.setTimeout(0).off('timeout', watch));
  });
};

const limitedTo = (maxBytes: number, body: Readable): Readable => {
  let received = 0;
  const limit = new Transform({
    transform: (chunk: Buffer, _encoding, callback) => {
      received += chunk.byteLength;
      if (received <= maxBytes) callback(null, chunk);
      else callback(new ResponseExceededMaxSizeError(`The body has more than ${maxBytes} bytes.`));
    },
  });
  // The reader of the limited body gets its error.
  return pipeline(body, limit, () => undefined);
};
