import type { IncomingHttpHeaders } from 'node:http';
import type { Inputs } from './input-files.ts';

/** A request to an upstream, with its key checked and its body parsed. */
export type Call = {
  headers: IncomingHttpHeaders;
  /** The parsed JSON body, or an empty object when there is none. */
  body: Record<string, unknown>;
  /** The named groups of the route's path. */
  params: Record<string, string>;
  query: URLSearchParams;
  requestId: string;
  /** Results of fetching the files that the call names, if the server fetches them. */
  inputs?: Inputs;
  /** Aborted when the client disconnects or the sandbox closes. */
  signal: AbortSignal;
};

/** Returns the JSON body of a 200 response, or a `Reply`. Throws `UpstreamError` for an error. */
export type Handler = (call: Call) => unknown;

/** A response of another status, with its JSON body as it is. */
export class Reply {
  readonly status: number;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    this.status = status;
    this.body = body;
  }
}

/** A method and path, and the handler of calls to it. */
export type Route = { method: string; path: RegExp; handle: Handler };

/** What an error response has beside its status, code and message. */
export interface UpstreamErrorDetails {
  param?: string;
  retryAfterSeconds?: number | undefined;
}

/** An error response. Each upstream renders it in its own format. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly status: number;
  readonly code: string;
  /** The rejected request field; empty when no field is to blame. */
  readonly param: string;
  /** Sent as `Retry-After`; absent for no such header. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, code: string, message: string, details: UpstreamErrorDetails = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = details.param ?? '';
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

/** One upstream: its routes and its error format. */
export type Upstream = {
  /** All paths with this prefix belong to the upstream. */
  prefix: string;
  routes: readonly Route[];
  newRequestId(): string;
  /** Throws `UpstreamError` when the key is missing or wrong. */
  checkKey(headers: IncomingHttpHeaders, path: string): void;
  renderError(error: UpstreamError, requestId: string): unknown;
  errors: {
    unknownRoute(method: string, path: string): UpstreamError;
    malformedBody(): UpstreamError;
    bodyTooLarge(): UpstreamError;
    internal(): UpstreamError;
  };
};

/** Lower than the upstreams' own limit (ten references of 30 MB each), but enough for tests. */
const BODY_LIMIT_BYTES = 32 * 1024 * 1024;

/**
 * Reads the request body as a JSON object; an absent body is an empty object. Throws the upstream's error for other
 * JSON or more than 32 MiB. An oversized body is drained without being kept, so the client gets the error response.
 */
export const readBody = async (
  request: AsyncIterable<Buffer>,
  errors: Upstream['errors'],
): Promise<Record<string, unknown>> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= BODY_LIMIT_BYTES) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (size > BODY_LIMIT_BYTES) throw errors.bodyTooLarge();
  if (size === 0) return {};
  const body = parseJson(Buffer.concat(chunks).toString('utf8'));
  if (!isObject(body)) throw errors.malformedBody();
  return body;
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

/** Whether a value is a JSON object, not null or an array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
