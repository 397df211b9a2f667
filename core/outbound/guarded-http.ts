import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher, request } from 'undici';
import { allowPrivateTargets } from '../environment.ts';
import { isAllowedAddress, type RefusalReason, refusalOf } from './target-rules.ts';

/** A URL that is not called, whoever gave it: calling again does not help. No connection was opened. */
export class TargetRefusedError extends Error {
  override name = 'TargetRefusedError';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason) {
    super(`The target was refused for its ${reason}.`);
    this.reason = reason;
  }
}

/** What is sent to a URL. `signal` ends it all, the reading of the answer's body included. */
export interface GuardedRequest {
  method?: Dispatcher.HttpMethod;
  headers?: Record<string, string>;
  body?: string;
  signal: AbortSignal;
  /** Reading a longer body fails with undici's `ResponseExceededMaxSizeError`. */
  maxResponseBytes?: number;
}

/** All addresses of a name, as `dns.lookup` gives them. */
export type ResolveAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** How long connecting may take, look-up and TLS included. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Longest silence of a server, before its headers and between two parts of its body. */
const SILENCE_LIMIT_MS = 30_000;

/**
 * Connects to addresses that were checked by the very look-up that found them, so that a name cannot change
 * in between. One refused address refuses the name: which of several would be dialled is not ours to say.
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
    // Node asks no look-up for an address.
    if (isIP(hostname) !== 0 && !isAllowedAddress(hostname, protocol, allowPrivateTargets()))
      process.nextTick(callback, new TargetRefusedError('address'), null);
    else if (protocol === 'https:') https(options, callback);
    else http(options, callback);
  };
};

/** Calls to URLs that others gave over kept connections; see `guardedRequest`. */
export interface GuardedSession {
  request: (
    url: string,
    options: Omit<GuardedRequest, 'maxResponseBytes'>,
  ) => Promise<Dispatcher.ResponseData>;
  /** Drops its connections, those in use too. */
  close: () => Promise<void>;
}

/**
 * A session of calls one after another that keeps one connection to each server, to an address that was checked
 * when it was opened. Keep a session no longer than the work on one file.
 */
export const openGuardedSession = (resolveAll: ResolveAll = lookup): GuardedSession => {
  const agent = guardedAgent(resolveAll, { connections: 1 });
  return {
    request: (url, options) => send(agent, url, options),
    close: () => agent.destroy(),
  };
};

/**
 * Sends a request to a URL that a caller or a provider gave, over a connection of its own, and gives status,
 * headers and body as undici does. Redirects are answers like any other. Throws `TargetRefusedError` for a URL
 * that is none, that is not `https:` (with private targets allowed, `http:` to the own machine), that carries
 * user information, names a bad port, or leads to any address that is not public.
 */
export const guardedRequest = async (
  url: string,
  options: GuardedRequest,
  resolveAll: ResolveAll = lookup,
): Promise<Dispatcher.ResponseData> => {
  const { maxResponseBytes = -1 } = options;
  return send(guardedAgent(resolveAll, { pipelining: 0, maxResponseSize: maxResponseBytes }), url, options);
};

/** An agent is cheap; of its own, none meets the connections or the limits of another. */
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
  // While connecting, undici does not listen to the signal.
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(signal.reason);
  signal.addEventListener('abort', stop);
  try {
    const answer = request(target, { dispatcher, method, headers, body: body ?? null, signal });
    return await Promise.race([answer, stopped.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
};
