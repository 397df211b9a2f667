import type { IncomingHttpHeaders } from 'node:http';
import { Reply, readBody, type Upstream, UpstreamError } from './http.ts';

/** A call to an upstream as it came in. */
export type IncomingCall = {
  method: string;
  path: string;
  /** What follows the path's question mark. */
  search?: string;
  headers: IncomingHttpHeaders;
  body: AsyncIterable<Buffer>;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
};

/** The answer to a call: its body is to be sent as JSON. */
export type CallAnswer = { status: number; body: unknown; headers: Record<string, string> };

/** Answers a call as the upstream does, errors included; undefined when the client has disconnected. Never rejects. */
export const answerCall = async (
  upstream: Upstream,
  { method, path, search = '', headers, body, signal }: IncomingCall,
): Promise<CallAnswer | undefined> => {
  const requestId = upstream.newRequestId();
  const answer = (status: number, content: unknown, headers = {}): CallAnswer => ({
    status,
    body: content,
    headers: { 'X-Request-Id': requestId, ...headers },
  });
  try {
    upstream.checkKey(headers, path);
    const route = upstream.routes.find(
      (candidate) => candidate.method === method && candidate.path.test(path),
    );
    if (!route) throw upstream.errors.unknownRoute(method, path);
    const content = await readBody(body, upstream.errors);
    const params = route.path.exec(path)?.groups ?? {};
    const query = new URLSearchParams(search);
    const told = await route.handle({ headers, body: content, params, query, requestId, signal });
    return told instanceof Reply ? answer(told.status, told.body) : answer(200, told);
  } catch (error) {
    if (signal.aborted) return undefined;
    if (!(error instanceof UpstreamError)) console.error('sandbox: a request failed unexpectedly', error);
    const refusal = error instanceof UpstreamError ? error : upstream.errors.internal();
    const { status, retryAfterSeconds } = refusal;
    return answer(status, upstream.renderError(refusal, requestId), {
      ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
    });
  }
};
