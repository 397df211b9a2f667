import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, sendAnswer } from '../gateway/answer.ts';
import { proxyAnswer } from '../gateway/proxy-answer.ts';
import type { InvokeFunction } from '../types.ts';

/** Payload limit of Lambda: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
const MAX_BODY_BYTES = 6 * 1024 * 1024;

/** Content types of bodies that a function gets as text; others are in base64. */
const TEXT_TYPE = /^(?:text\/|application\/(?:json|javascript|xml|[\w.-]+\+(?:json|xml))(?:;|$))/i;

/** A server for one function URL. */
export interface FunctionUrl {
  /** With a slash at the end, as `FunctionUrl` of the template has it. */
  url: string;
  close(): Promise<void>;
}

/** The body; undefined when it exceeds the limit. */
const readBody = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  let chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_BODY_BYTES) chunks = [];
    else chunks.push(chunk);
  }
  return sizeBytes > MAX_BODY_BYTES ? undefined : Buffer.concat(chunks);
};

/** The event of payload format 2.0: https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html */
const eventOf = (request: IncomingMessage, body: Buffer) => {
  const [path = '/', query = ''] = (request.url ?? '/').split(/\?(.*)/s, 2);
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, [value].flat().join(',')]),
  );
  const { cookie, host = '', ...others } = headers;
  const parameters = new URLSearchParams(query);
  const names = [...new Set(parameters.keys())];
  const isText = TEXT_TYPE.test(headers['content-type'] ?? '');
  const now = new Date();
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: query,
    ...(cookie !== undefined && { cookies: cookie.split(/;\s*/) }),
    headers: {
      ...others,
      host,
      'x-forwarded-proto': 'http',
      'x-forwarded-for': request.socket.remoteAddress,
    },
    ...(names.length > 0 && {
      queryStringParameters: Object.fromEntries(
        names.map((name) => [name, parameters.getAll(name).join(',')]),
      ),
    }),
    requestContext: {
      accountId: 'anonymous',
      domainName: host.replace(/:\d+$/, ''),
      http: {
        method: request.method ?? 'GET',
        path,
        protocol: 'HTTP/1.1',
        sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
        userAgent: request.headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey: '$default',
      stage: '$default',
      time: now.toUTCString(),
      timeEpoch: now.getTime(),
    },
    ...(body.length > 0 && { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !isText,
  };
};

const plain = (statusCode: number, message: string): Answer => ({
  statusCode,
  headers: { 'Content-Type': 'application/json' },
  body: Buffer.from(JSON.stringify({ Message: message })),
});

/** A function's answer as HTTP: a value without a status is the body of a 200. */
const answerOf = (payload: unknown): Answer => {
  const hasStatus = typeof payload === 'object' && payload !== null && 'statusCode' in payload;
  const response = hasStatus ? payload : { statusCode: 200, body: JSON.stringify(payload ?? null) };
  return proxyAnswer(response, ['*/*'], undefined) ?? plain(502, 'Internal Server Error');
};

/** Status of an invocation that Lambda refuses, by the error's name. */
const REFUSALS: Record<string, number> = { TooManyRequestsException: 429, RequestTooLargeException: 413 };

/** Serves a function at a port of loopback, as a function URL without authorization does. */
export const startFunctionUrl = async (
  functionArn: string,
  invoke: InvokeFunction,
  log: (line: string) => void = () => undefined,
): Promise<FunctionUrl> => {
  const call = async (request: IncomingMessage): Promise<Answer> => {
    const body = await readBody(request);
    if (!body) return plain(413, 'Request too large');
    try {
      const { payload, functionError } = await invoke(functionArn, eventOf(request, body));
      return functionError ? plain(502, 'Internal Server Error') : answerOf(payload);
    } catch (error) {
      return plain(REFUSALS[(error as Error).name] ?? 502, (error as Error).message);
    }
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const answer = await call(request);
      sendAnswer(response, answer);
      log(`${functionArn} ${request.method} ${request.url} ${answer.statusCode}`);
    } catch (error) {
      log(`${functionArn} ${request.method} ${request.url} ended early: ${error}`);
      response.destroy();
    }
  };
  const server = createServer((request, response) => void handle(request, response));
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
