import { request, type ServerResponse } from 'node:http';
import { LoopbackServer, type ReceivedRequest } from '../../unit/servers/loopback-server.ts';

/** Stands between a local run and the sandbox. The test decides which calls pass. */
export interface ProviderProxy {
  /** CDK context that sends the calls of a local run to ModelArk here, and to Model Studio. */
  context: Record<'modelArkBaseUrl' | 'modelStudioBaseUrl', string>;
  /** Every call so far. */
  requests: readonly ReceivedRequest[];
  /** Called for each call, which waits for it: true when it has answered the call, or leaves it without an answer. At first, all pass. */
  stop: (request: ReceivedRequest, response: ServerResponse) => boolean | Promise<boolean>;
  /** The host at which the sandbox is called. At first, its own address. */
  host: string | undefined;
  close(): Promise<void>;
}

/** Opens `proxy`. `sandboxUrl` is read at each call, so the sandbox may start later. */
export const openProviderProxy = async (sandboxUrl: () => string, proxy: ProviderProxy): Promise<void> => {
  const server = await new LoopbackServer().start();
  Object.assign(proxy, {
    context: { modelArkBaseUrl: `${server.url}/api/v3`, modelStudioBaseUrl: server.url },
    requests: server.requests,
    stop: () => false,
    host: undefined,
    close: () => server.close(),
  } satisfies ProviderProxy);
  server.respond = async (request, response) => {
    if (await proxy.stop(request, response)) return;
    forward(sandboxUrl() + request.path, proxy.host, request, response);
  };
};

/** The connection breaks when the sandbox does not answer. Not by `fetch`, which leaves out a host. */
const forward = (
  url: string,
  host: string | undefined,
  { method, headers, body }: ReceivedRequest,
  response: ServerResponse,
): void => {
  const call = request(url, {
    method,
    headers: {
      authorization: headers.authorization ?? '',
      'content-type': 'application/json',
      ...(host === undefined ? {} : { host }),
      ...(headers['x-dashscope-async'] === undefined ? {} : { 'x-dashscope-async': 'enable' }),
    },
  });
  call.on('error', (error) => response.destroy(error));
  call.on('response', (answer) => {
    const retryAfter = answer.headers['retry-after'];
    response.writeHead(answer.statusCode ?? 500, {
      'content-type': 'application/json',
      ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
    });
    answer.on('error', (error) => response.destroy(error));
    answer.pipe(response);
  });
  call.end(body === undefined ? undefined : JSON.stringify(body));
};
