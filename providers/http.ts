import { Agent, request } from 'undici';

/**
 * No response timeout: a synchronous image call runs for minutes, and the caller's signal limits it. No
 * keep-alive: a creation sent on a connection that the provider has just closed would be lost.
 */
const agent = new Agent({ connect: { timeout: 5_000 }, headersTimeout: 0, bodyTimeout: 0, pipelining: 0 });

/** A provider's HTTP response, or why there is none. */
export type HttpAnswer =
  /** `retryAfterSeconds` is its `Retry-After`, when it has a valid one. */
  | { kind: 'answered'; status: number; body: unknown; retryAfterSeconds?: number | undefined }
  /** No connection was made: the provider has not received the call. */
  | { kind: 'unreached'; reason: string }
  /** The caller's signal ended the call. */
  | { kind: 'timed-out' }
  /** The connection broke after the call was sent: the provider may have received it. */
  | { kind: 'broken'; reason: string };

/** Error codes of Node and undici that occur before a request is sent. */
const UNREACHED_CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Sends JSON and reads JSON. Never rejects for a network fault or an HTTP status. */
export const callProvider = async (
  method: 'GET' | 'POST',
  url: string,
  options: { headers: Record<string, string>; body?: Record<string, unknown>; signal: AbortSignal },
): Promise<HttpAnswer> => {
  try {
    const { statusCode, headers, body } = await request(url, {
      method,
      headers: { 'content-type': 'application/json', ...options.headers },
      body: options.body === undefined ? null : JSON.stringify(options.body),
      signal: options.signal,
      dispatcher: agent,
    });
    const retryAfterSeconds = retryAfterOf(headers['retry-after'], new Date());
    return { kind: 'answered', status: statusCode, body: parseJson(await body.text()), retryAfterSeconds };
  } catch (error) {
    if (options.signal.aborted) return { kind: 'timed-out' };
    const code = String((error as { code?: unknown }).code ?? (error as Error).name);
    return { kind: UNREACHED_CODES.has(code) ? 'unreached' : 'broken', reason: code };
  }
};

/** The seconds of a `Retry-After` header, given as seconds or as a date (RFC 9110, 10.2.3). */
export const retryAfterOf = (header: string | string[] | undefined, now: Date): number | undefined => {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const milliseconds = Date.parse(header) - now.getTime();
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, Math.ceil(milliseconds / 1000));
};

/** The body as JSON; undefined when it is none, as from a gateway: then the status decides. */
const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};
