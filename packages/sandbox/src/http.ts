import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** One request to an upstream, after its key was checked and its body read. */
export type Call = {
  headers: IncomingHttpHeaders;
  /** The parsed body of a POST that has one, else an empty object. */
  body: Record<string, unknown>;
  /** The named groups of the route's path. */
  params: Record<string, string>;
  requestId: string;
  /** Aborted when the client gives up or the sandbox closes. */
  signal: AbortSignal;
};

/** What a route answers with status 200. */
export type Handler = (call: Call) => unknown;

export type Route = { method: string; path: RegExp; handle: Handler };

/** A refusal in an upstream's own terms. Each upstream renders it into its own body. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly status: number;
  readonly code: string;
  /** The request field that was refused, where there is one. */
  readonly param: string;

  constructor(status: number, code: string, message: string, param = '') {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

/** One upstream: its routes, and how it says no. */
export type Upstream = {
  /** Every path that begins with this is the upstream's. */
  prefix: string;
  routes: readonly Route[];
  newRequestId(): string;
  /** Throws the upstream's refusal of a missing or wrong key. */
  checkKey(headers: IncomingHttpHeaders): void;
  renderError(error: UpstreamError, requestId: string): unknown;
  faults: {
    unknownRoute(method: string, path: string): UpstreamError;
    malformedBody(): UpstreamError;
    bodyTooLarge(): UpstreamError;
    internal(): UpstreamError;
  };
};

/** Less than the upstreams take in (ten references of 30 MB), but more than anyone sends to a stand-in. */
export const BODY_LIMIT_BYTES = 32 * 1024 * 1024;

/** Reads a request's JSON object. A body over the limit is read to its end without being kept, so that the refusal arrives. */
export const readBody = async (
  request: IncomingMessage,
  faults: Upstream['faults'],
): Promise<Record<string, unknown>> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= BODY_LIMIT_BYTES) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (size > BODY_LIMIT_BYTES) throw faults.bodyTooLarge();
  if (size === 0) return {};
  const body = parseJson(Buffer.concat(chunks).toString('utf8'));
  if (!isObject(body)) throw faults.malformedBody();
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

/** Whether a value is a JSON object (not null, not an array). */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
