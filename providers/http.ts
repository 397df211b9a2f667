import { Agent, request } from 'undici';

/**
 * No limit of its own on how long an answer may take: a synchronous image call runs for minutes, and the
 * caller's signal ends it. Connecting must be quick. Connections are not kept: a creation sent on one that
 * the upstream has just closed would be lost without need.
 */
const agent = new Agent({ connect: { timeout: 5_000 }, headersTimeout: 0, bodyTimeout: 0, pipelining: 0 });

/** An upstream's answer, or why there is none. */
export type UpstreamAnswer =
  | { kind: 'answered'; status: number; body: unknown }
  /** The connection was never made: the upstream has not seen the call. */
  | { kind: 'unreached'; reason: string }
  /** Our own time limit ended the call. */
  | { kind: 'timed-out' }
  /** The call was on its way when the connection broke: the upstream may have seen it. */
  | { kind: 'broken'; reason: string };

/** Errors of Node and undici from before a request was sent. */
const UNREACHED_CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Sends JSON and reads JSON. Never rejects for what the network or the upstream does. */
export const callUpstream = async (
  method: 'GET' | 'POST',
  url: string,
  options: { headers: Record<string, string>; body?: Record<string, unknown>; signal: AbortSignal },
): Promise<UpstreamAnswer> => {
  try {
    const { statusCode, body } = await request(url, {
      method,
      headers: { 'content-type': 'application/json', ...options.headers },
      body: options.body === undefined ? null : JSON.stringify(options.body),
      signal: options.signal,
      dispatcher: agent,
    });
    return { kind: 'answered', status: statusCode, body: parseJson(await body.text()) };
  } catch (error) {
    if (options.signal.aborted) return { kind: 'timed-out' };
    const code = String((error as { code?: unknown }).code ?? (error as Error).name);
    return { kind: UNREACHED_CODES.has(code) ? 'unreached' : 'broken', reason: code };
  }
};

/** What a gateway in between answers is not always JSON: such a body says nothing, the status does. */
const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};
