import { ApiError, apiErrorOf, ConnectionError, GenerationServiceError, TimeoutError } from './errors.ts';
import { abortedBy, sleep } from './sleep.ts';
import { allowSlowConnections } from './slow-connections.ts';

/** How a client reaches the service. */
export interface ClientOptions {
  /** Where the API is, such as `https://api.example.com`. Default: `GENERATION_BASE_URL` of the environment. */
  baseUrl?: string | undefined;
  /** Keep it on your servers: it spends your balance. Default: `GENERATION_API_KEY` of the environment. */
  apiKey?: string | undefined;
  /** Whether the key may go over plain `http:` to other hosts than this machine. Default: false. */
  allowHttp?: boolean;
  /** In place of the platform's `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** How often a call is repeated where that is safe. Default: 4. */
  maxRetries?: number;
  /** Limit on one attempt, its answer included. Default: 35, longer than the service takes. */
  attemptSeconds?: number;
  /** A longer `Retry-After` is not waited for: the error is thrown at once. Default: 60. */
  maxRetryAfterSeconds?: number;
}

/** The signal that ends a call, its headers, and a hook for its answers. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Headers beside the client's own, which win. They go to the API, not to the host of the files. */
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Gets the raw answer to each attempt, which you may read: status, headers, body. */
  onResponse?: ((response: Response) => void) | undefined;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** The parts of a path after `/v1`. None may be empty or a dot: the call would be another one. */
export type Path = readonly string[];

/** Parameters of a call; those that are undefined are not sent. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** What a call sends beside its path. All may be repeated: a creation has a key, and the others change nothing the second time. */
interface Sent {
  query?: Query;
  body?: unknown;
  idempotencyKey?: string;
  /** Called when the answer to an attempt was lost. */
  lostOne?: () => void;
}

const FIRST_PAUSE_SECONDS = 0.5;
const LONGEST_PAUSE_SECONDS = 8;
/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** An answer of 429 without `Retry-After` comes from something before the service. */
const PAUSE_WHEN_BUSY_SECONDS = 1;

/**
 * Whether the outcome is unknown: no answer, or a server error other than 503 from the service or a proxy before it.
 */
const leavesOpen = (error: GenerationServiceError): boolean =>
  !(error instanceof ApiError) || (error.status >= 500 && error.status !== 503);

/** Seconds to wait before repeating a call after this error; undefined when it is not repeated. */
const pauseAfter = (error: GenerationServiceError, method: Method, attempt: number): number | undefined => {
  if (error instanceof ApiError) {
    if (error.status === 429) return error.retryAfterSeconds ?? PAUSE_WHEN_BUSY_SECONDS;
    // A creation that is paused is the caller's to repeat; the client calls a deletion again that has more to do.
    if (error.status === 503) return method === 'GET' && attempt === 1 ? error.retryAfterSeconds : undefined;
    if (error.status < 500) return undefined;
    if (error.retryAfterSeconds !== undefined) return error.retryAfterSeconds;
  }
  // Full jitter, for the same reason.
  return Math.min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (attempt - 1)) * Math.random();
};

const headersOf = (given: CallOptions['headers'] = {}, own: Record<string, string>): Headers => {
  const headers = new Headers(own);
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && !headers.has(name)) headers.set(name, value);
  return headers;
};

const segment = (text: string): string => {
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`Not an id: "${text}"`);
  return encodeURIComponent(text);
};

/** Base URLs that show the key to nobody on the way: `https:`, or on this machine. */
const KEEPS_KEY = /^https:|^http:\/\/(localhost|127(\.\d+){3}|\[::1\])(:\d+)?(\/|$)/i;

/** Only some platforms have an environment. */
interface Platform {
  process?: { env?: Record<string, string | undefined> };
}

/** A setting that is given, or stands in the environment, where the platform has one. */
const setting = (name: string, given: string | undefined, variable: string): string => {
  const value = given ?? (globalThis as Platform).process?.env?.[variable];
  if (!value) throw new TypeError(`${name} is missing: give it to the client, or set ${variable}`);
  return value;
};

/** Calls the API, and repeats a call where that is safe. */
export class Http {
  readonly options: ClientOptions & { baseUrl: string; apiKey: string; fetch: typeof fetch };

  constructor(given: ClientOptions) {
    const baseUrl = setting('baseUrl', given.baseUrl, 'GENERATION_BASE_URL').replace(/\/+$/, '');
    const apiKey = setting('apiKey', given.apiKey, 'GENERATION_API_KEY');
    if (!(KEEPS_KEY.test(baseUrl) || (given.allowHttp && /^http:/i.test(baseUrl))))
      throw new TypeError('baseUrl is not https:');
    if (!given.fetch) allowSlowConnections();
    this.options = { ...given, baseUrl, apiKey, fetch: given.fetch ?? globalThis.fetch };
  }

  /**
   * Makes a call and returns the body of the answer. Repeats the call, with the same body and idempotency key, when
   * the service may not have seen the call or asks for a repetition. Throws `ApiError`, `ConnectionError`,
   * `TimeoutError`, `AbortedError`, `TypeError` for a path or a key that cannot be sent, and what `onResponse`
   * throws.
   */
  async call<T>(
    method: Method,
    path: Path,
    options: CallOptions = {},
    { query = {}, body: content, idempotencyKey, lostOne }: Sent = {},
  ): Promise<T> {
    const { signal } = options;
    const url = new URL([this.options.baseUrl, 'v1', ...path.map(segment)].join('/'));
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.append(name, String(value));
    const body = JSON.stringify(content);
    const sent = {
      method,
      headers: headersOf(options.headers, {
        Authorization: `Bearer ${this.options.apiKey}`,
        ...(body && { 'Content-Type': 'application/json' }),
        ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
      }),
      body,
      // The key goes to the base URL and nowhere else.
      redirect: 'manual' as const,
    };
    for (let attempt = 1; ; attempt += 1) {
      try {
        return (await this.#attempt(url.href, sent, options, idempotencyKey)) as T;
      } catch (error) {
        // Also when the attempt failed for another reason at that moment.
        if (signal?.aborted) throw abortedBy(signal, idempotencyKey);
        if (!(error instanceof GenerationServiceError)) throw error;
        if (leavesOpen(error)) lostOne?.();
        const seconds = pauseAfter(error, method, attempt);
        const { maxRetries = 4, maxRetryAfterSeconds = 60 } = this.options;
        const isWorthIt = attempt <= maxRetries && seconds !== undefined && seconds <= maxRetryAfterSeconds;
        if (!isWorthIt) throw error;
        // Never earlier than the service asked; up to a tenth later, so that callers spread out.
        await sleep(seconds * (1000 + 100 * Math.random()), signal, idempotencyKey);
      }
    }
  }

  async #attempt(
    url: string,
    sent: RequestInit,
    { signal, onResponse }: CallOptions,
    idempotencyKey: string | undefined,
  ): Promise<unknown> {
    const { fetch, attemptSeconds = 35 } = this.options;
    const limit = new AbortController();
    const abort = () => limit.abort();
    if (signal?.aborted) throw abortedBy(signal, idempotencyKey);
    signal?.addEventListener('abort', abort, { once: true });
    let isLate = false;
    const timer = setTimeout(
      () => {
        isLate = true;
        limit.abort();
      },
      Math.min(attemptSeconds * 1000, LONGEST_TIMER_MS),
    );
    let copy: Response | undefined;
    let answer: unknown;
    try {
      const response = await fetch(url, { ...sent, signal: limit.signal });
      if (onResponse) copy = response.clone();
      const text = await response.text();
      answer = response.ok ? JSON.parse(text) : apiErrorOf(response, text, idempotencyKey);
    } catch (error) {
      // `call` tells an abort from the rest. A query may name an end-user: it is left out.
      const details = { cause: error, idempotencyKey };
      const called = `${sent.method} ${url.replace(/\?.*/, '')}`;
      throw isLate
        ? new TimeoutError(`The service did not answer in time: ${called}`, details)
        : new ConnectionError(`The service could not be reached: ${called}`, details);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
    if (copy) onResponse?.(copy);
    if (answer instanceof ApiError) throw answer;
    return answer;
  }
}
