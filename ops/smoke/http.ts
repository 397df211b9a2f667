import { buffer } from 'node:stream/consumers';
import { type ExchangeOptions, exchange } from '../../core/http-exchange.ts';

/** An answer of the API. */
export interface ApiAnswer {
  status: number;
  headers: Headers;
  /** The body as JSON; undefined when it is none. */
  body: unknown;
}

/** How to call the API. */
export interface CallOptions {
  key?: string | undefined;
  /** JSON unless it is text. */
  body?: unknown;
  contentType?: string;
}

/** A file as it was served. */
export interface ServedFile {
  status: number;
  headers: Headers;
  bytes: Uint8Array;
}

/** Calls the service as a customer does. */
export interface SmokeCaller {
  baseUrl: string;
  call(method: string, path: string, options?: CallOptions): Promise<ApiAnswer>;
  fetchFile(url: string): Promise<ServedFile>;
}

/** Over API Gateway's 29 s. */
const CALL_MILLISECONDS = 40_000;
/** For a file of some megabytes. */
const FILE_MILLISECONDS = 120_000;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

/** An answer as it is sent, read to its end. Follows no redirect. */
const answerTo = async (url: string, options: ExchangeOptions) => {
  const { statusCode, headers, body } = await exchange(new URL(url), options);
  const named = Object.entries(headers).flatMap(([name, values]) =>
    [values ?? []].flat().map((value): [string, string] => [name, value]),
  );
  return { status: statusCode, headers: new Headers(named), bytes: await buffer(body) };
};

/** A caller of the service at a base URL. Calls end with `signal`, and when no answer comes in time. */
export const createCaller = (baseUrl: string, signal: AbortSignal): SmokeCaller => ({
  baseUrl,
  async call(method, path, { key, body, contentType } = {}) {
    const { status, headers, bytes } = await answerTo(baseUrl + path, {
      method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': contentType ?? 'application/json' }),
      },
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
      signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_MILLISECONDS)]),
    });
    return { status, headers, body: parsed(bytes.toString()) };
  },
  async fetchFile(url) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(FILE_MILLISECONDS)]);
    return answerTo(url, { method: 'GET', headers: {}, signal: limit });
  },
});

/** An answer in a few words, for a sentence. */
export const shown = ({ status, body }: ApiAnswer): string => {
  const text = body === undefined ? 'no JSON' : JSON.stringify(body);
  return `${status}, ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`;
};
