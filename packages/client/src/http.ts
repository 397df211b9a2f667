import {
  ApiError,
  apiErrorOf,
  ConnectionError,
  type GenerationServiceError,
  type Refusal,
  TimeoutError,
} from './errors.ts';
import { abortedBy, sleep } from './sleep.ts';

/** How a client reaches the service. */
export interface ClientOptions {
  /** Where the API is, such as `https://api.example.com`. */
  baseUrl: string;
  /** Keep it on your servers: whoever has it spends your balance. */
  apiKey: string;
  /** In place of the platform's `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** How often a call is repeated where that is safe. Default: 4. */
  maxRetries?: number;
  /** Limit on one attempt, its answer included. Default: 35, longer than the service takes. */
  attemptSeconds?: number;
  /** A longer `Retry-After` is not waited for: the error is thrown at once. Default: 60. */
  maxRetryAfterSeconds?: number;
}

/** How a call may end before its time. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
}

/** One call of the API. All may be repeated: a creation has a key, and the others change nothing the second time. */
export interface Call extends CallOptions {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  body?: unknown;
  idempotencyKey?: string;
}

const FIRST_PAUSE_SECONDS = 0.5;
const LONGEST_PAUSE_SECONDS = 8;
/** An answer of 429 without `Retry-After` comes from something before the service. */
const PAUSE_WHEN_BUSY_SECONDS = 1;

/** The service gave no answer that says what happened: also a server error of our own or of what is before it. */
const leavesOpen = (error: GenerationServiceError): boolean =>
  !(error instanceof ApiError) || (error.status >= 500 && error.status !== 503);

/** Seconds to wait before repeating a call after this error; undefined when it is not repeated. */
const pauseAfter = (
  error: GenerationServiceError,
  method: Call['method'],
  attempt: number,
): number | undefined => {
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

/** Calls the API, and repeats a call where that is safe. */
export class Http {
  readonly options: Required<ClientOptions>;

  constructor(options: ClientOptions) {
    this.options = {
      fetch: globalThis.fetch,
      maxRetries: 4,
      attemptSeconds: 35,
      maxRetryAfterSeconds: 60,
      ...options,
      baseUrl: options.baseUrl.replace(/\/+$/, ''),
    };
  }

  /**
   * The body of the answer. Repeats the call, with the same body and key, where the service may not have seen it or
   * asks for it; `lostOne` is called when the answer to an attempt was lost. Throws `ApiError`, `ConnectionError`,
   * `TimeoutError`, `AbortedError`.
   */
  async call<T>(call: Call, lostOne?: () => void): Promise<T> {
    const { method, signal, idempotencyKey } = call;
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return (await this.#attempt(call, body)) as T;
      } catch (thrown) {
        // Also when the attempt failed for another reason at that moment.
        if (signal?.aborted) throw abortedBy(signal, idempotencyKey);
        const error = thrown as GenerationServiceError;
        if (leavesOpen(error)) lostOne?.();
        const seconds = pauseAfter(error, method, attempt);
        const { maxRetries, maxRetryAfterSeconds } = this.options;
        const isWorthIt = attempt <= maxRetries && seconds !== undefined && seconds <= maxRetryAfterSeconds;
        if (!isWorthIt) throw error;
        // Never earlier than the service asked; up to a tenth later, so that callers spread out.
        await sleep(seconds * (1000 + 100 * Math.random()), signal, idempotencyKey);
      }
    }
  }

  async #attempt(call: Call, body: string | undefined): Promise<unknown> {
    const { signal, idempotencyKey } = call;
    const limit = new AbortController();
    const abort = () => limit.abort();
    if (signal?.aborted) throw abortedBy(signal, idempotencyKey);
    signal?.addEventListener('abort', abort, { once: true });
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      limit.abort();
    }, this.options.attemptSeconds * 1000);
    try {
      return await this.#exchange(call, body, limit.signal);
    } catch (error) {
      // `call` tells an abort from the rest.
      if (error instanceof ApiError) throw error;
      const details = { cause: error, idempotencyKey };
      throw isLate
        ? new TimeoutError('The service did not answer in time.', details)
        : new ConnectionError('The service could not be reached.', details);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  async #exchange(call: Call, body: string | undefined, signal: AbortSignal): Promise<unknown> {
    const { method, path, query = {}, idempotencyKey } = call;
    const { baseUrl, apiKey, fetch } = this.options;
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) search.append(name, String(value));
    }
    const response = await fetch(`${baseUrl}${path}${call.query ? `?${search}` : ''}`, {
      method,
      headers: {
        Authorization: `Bearer ${apiKey}`,
        ...(body && { 'Content-Type': 'application/json' }),
        ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
      },
      ...(body && { body }),
      // The key goes to the base URL and nowhere else.
      redirect: 'manual',
      signal,
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text);
    throw apiErrorOf(refusalOf(response, text, idempotencyKey));
  }
}

const refusalOf = (
  { status, headers }: Response,
  text: string,
  idempotencyKey: string | undefined,
): Refusal => {
  let error: Partial<Pick<Refusal, 'code' | 'message' | 'fields'>> | undefined;
  try {
    ({ error } = JSON.parse(text));
  } catch {
    // A page of a proxy, or nothing at all: the status says what is known.
  }
  const { code, message = `HTTP ${status}`, fields } = error ?? {};
  return { status, headers, code, message, fields, idempotencyKey };
};
