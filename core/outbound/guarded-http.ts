import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher, request } from 'undici';
import { allowPrivateTargets } from '../environment.ts';
import { userAgent } from '../user-agent.ts';
import { isAllowedAddress, type RefusalReason, refusalOf } from './target-rules.ts';

/** The URL is refused and no connection was opened. Retrying does not help. */
export class TargetRefusedError extends Error {
  override name = 'TargetRefusedError';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason) {
    super(`The target was refused for its ${reason}.`);
    this.reason = reason;
  }
}

/** A request to a URL. `signal` aborts it, including reading the response body. */
export interface GuardedRequest {
  method?: Dispatcher.HttpMethod;
  headers?: Record<string, string>;
  body?: string;
  signal: AbortSignal;
  /** Reading a longer response body throws undici's `ResponseExceededMaxSizeError`. */
  maxResponseBytes?: number;
}

/** Resolves all addresses of a name, as `dns.lookup` does. */
export type ResolveAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Time limit to connect, including DNS lookup and TLS. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Longest wait for a server's headers, and for each next part of its body. */
const SILENCE_LIMIT_MS = 30_000;

/**
 * Checks addresses inside the connection's own DNS lookup, so that a name cannot change between check and
 * connect. One refused address refuses the name, because Node chooses which address to dial.
 */
const guardedConnector = (resolveAll: ResolveAll): buildConnector.connector => {
  const lookupFor =
    (protocol: string): LookupFunction =>
    (hostname, options, callback) =>
      resolveAll(hostname, { ...options, all: true }, (error, addresses) => {
        if (error) return callback(error, []);
        const [first] = addresses;
        const allowed = addresses.every(({ address }) =>
          isAllowedAddress(address, protocol, allowPrivateTargets()),
        );
        if (!first || !allowed) return callback(new TargetRefusedError('address'), []);
        if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      });
  const connectorFor = (protocol: string): buildConnector.connector =>
    buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false, lookup: lookupFor(protocol) });
  const https = connectorFor('https:');
  const http = connectorFor('http:');
  return (options, callback) => {
    const { hostname, protocol } = options;
    // Node skips the lookup for an IP address.
    if (isIP(hostname) !== 0 && !isAllowedAddress(hostname, protocol, allowPrivateTargets()))
      process.nextTick(callback, new TargetRefusedError('address'), null);
    else if (protocol === 'https:') https(options, callback);
    else http(options, callback);
  };
};

/**
 * Sends a request to a URL from a caller or provider over a new connection, and returns undici's response.
 * Does not follow redirects. Throws `TargetRefusedError` for a URL that is malformed, not `https:` (with
 * private targets allowed, `http:` to loopback), has user information or a bad port, or resolves to an
 * address that is not allowed.
 */
export const guardedRequest = async (
  url: string,
  options: GuardedRequest,
  resolveAll: ResolveAll = lookup,
): Promise<Dispatcher.ResponseData> => {
  const { maxResponseBytes = -1 } = options;
  return send(guardedAgent(resolveAll, { pipelining: 0, maxResponseSize: maxResponseBytes }), url, options);
};

/** A new agent for each use, which is cheap, so that uses share neither connections nor limits. */
const guardedAgent = (resolveAll: ResolveAll, options: Agent.Options): Agent =>
  new Agent({
    ...options,
    connect: guardedConnector(resolveAll),
    allowH2: false,
    headersTimeout: SILENCE_LIMIT_MS,
    bodyTimeout: SILENCE_LIMIT_MS,
  });

const send = async (
  dispatcher: Agent,
  url: string,
  { method = 'GET', headers = {}, body, signal }: GuardedRequest,
): Promise<Dispatcher.ResponseData> => {
  const target = URL.parse(url);
  if (!target) throw new TargetRefusedError('url');
  const reason = refusalOf(target, allowPrivateTargets());
  if (reason) throw new TargetRefusedError(reason);
  signal.throwIfAborted();
  // undici ignores the signal while connecting.
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(signal.reason);
  signal.addEventListener('abort', stop);
  try {
    const named = { 'user-agent': userAgent(), ...headers };
    const answer = request(target, { dispatcher, method, headers: named, body: body ?? null, signal });
    return await Promise.race([answer, stopped.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
};
