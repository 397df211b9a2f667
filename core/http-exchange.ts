import { type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { pipeline, type Readable, Transform } from 'node:stream';
import { openConnection } from './connection.ts';

/** One HTTP request and what limits it. */
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
  /** Called once there is a connection, TLS included. What fails before was not sent. */
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

/** Silence after which TCP probes the other side, so that gateways keep a connection on which an answer takes minutes. */
const PROBE_AFTER_MS = 60_000;

/**
 * Sends a request over HTTP/1.1 and returns the response once its headers are there. Follows no redirect,
 * uses no proxy and never sends twice. Throws what `openConnection` throws, the signal's reason, `SilenceError`,
 * `NoAnswerError`, and Node's errors, which have a `code`.
 */
export const exchange = async (url: URL, options: ExchangeOptions): Promise<ExchangeResponse> => {
  const { signal, body, silenceLimitMs = 0, maxResponseBytes } = options;
  signal.throwIfAborted();
  const isSecure = url.protocol === 'https:';
  const connection = await openConnection({
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port) || (isSecure ? 443 : 80),
    isSecure,
    lookup: options.lookup,
    signal,
  });
  options.onConnected?.();
  const { promise, resolve, reject } = Promise.withResolvers<ExchangeResponse>();
  const request = (isSecure ? requestHttps : requestHttp)(url, {
    method: options.method,
    headers: options.headers,
    // A connection of its own.
    createConnection: () => connection,
  });
  let response: Readable | undefined;
  const end = (reason: Error): void => {
    reject(reason);
    (response ?? request).destroy(reason);
  };
  const stop = (): void => end(signal.reason);
  signal.addEventListener('abort', stop);
  request.once('close', () => {
    signal.removeEventListener('abort', stop);
    // Node closes the connection without an error after a 101. Settled already in any other case.
    reject(new NoAnswerError('The connection was closed without an answer.'));
  });
  // It stays: a connection may also fail while the body is read, which then fails too.
  request.on('error', reject);
  request.once('socket', (socket) => {
    const watch = (): void => {
      const { bytesRead } = socket;
      // A process that was busy first reads the data that arrived in the meantime.
      setImmediate(() => {
        // Data that waits for its reader is no silence either.
        const isHeard = socket.bytesRead > bytesRead || response?.readableLength;
        if (isHeard) socket.setTimeout(silenceLimitMs);
        else end(new SilenceError('The server was silent for too long.'));
      });
    };
    socket.setTimeout(silenceLimitMs).on('timeout', watch);
    request.once('close', () => socket.setTimeout(0).off('timeout', watch));
  });
  request.setSocketKeepAlive(true, PROBE_AFTER_MS);
  request.once('response', (incoming) => {
    response = incoming;
    const { statusCode = 0, headers } = incoming;
    const limited = maxResponseBytes === undefined ? incoming : limitedTo(maxResponseBytes, incoming);
    resolve({ statusCode, headers, body: limited });
  });
  request.end(body);
  return promise;
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
