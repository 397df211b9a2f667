import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { allowPrivateTargets, userAgent } from '../environment.ts';
import { type ExchangeResponse, exchange } from '../http-exchange.ts';
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
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
  signal: AbortSignal;
  /** Reading a longer response body throws `ResponseExceededMaxSizeError`. */
  maxResponseBytes?: number;
}

/** Resolves all addresses of a name, as `dns.lookup` does. */
export type ResolveAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Longest wait for a server's headers, and for each next part of its body. */
const SILENCE_LIMIT_MS = 30_000;

/**
 * Checks addresses inside the connection's own DNS lookup, so that a name cannot change between check and
 * connect. One refused address refuses the name, because each may be dialled.
 */
const guardedLookup =
  (resolveAll: ResolveAll, protocol: string): LookupFunction =>
  (hostname, options, callback) =>
    resolveAll(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const allowed = addresses.every(({ address }) =>
        isAllowedAddress(address, protocol, allowPrivateTargets()),
      );
      if (addresses.length === 0 || !allowed) return callback(new TargetRefusedError('address'), []);
      callback(null, addresses);
    });

/**
 * Sends a request to a URL from a caller or provider over a new connection. Does not follow redirects. Throws
 * `TargetRefusedError` for a malformed URL, a scheme other than `https:`, user information, a bad port, or a
 * forbidden address. With private targets allowed, `http:` to loopback is accepted. Also throws the errors of
 * `exchange`.
 */
export const guardedRequest = async (
  url: string,
  options: GuardedRequest,
  resolveAll: ResolveAll = lookup,
): Promise<ExchangeResponse> => {
  const { method = 'GET', headers = {}, body, signal, maxResponseBytes } = options;
  const target = URL.parse(url);
  if (!target) throw new TargetRefusedError('url');
  const { protocol } = target;
  const reason = refusalOf(target, allowPrivateTargets());
  if (reason) throw new TargetRefusedError(reason);
  const host = target.hostname.replace(/^\[(.*)\]$/, '$1');
  // Node skips the lookup for an IP address.
  if (isIP(host) !== 0 && !isAllowedAddress(host, protocol, allowPrivateTargets()))
    throw new TargetRefusedError('address');
  return exchange(target, {
    method,
    headers: { 'user-agent': userAgent(), ...headers },
    body,
    signal,
    maxResponseBytes,
    silenceLimitMs: SILENCE_LIMIT_MS,
    lookup: guardedLookup(resolveAll, protocol),
  });
};
