import type { ServerResponse } from 'node:http';
import { LoopbackServer, type ReceivedRequest } from '../../unit/servers/loopback-server.ts';

/** Stands between a local run and the sandbox. The test decides which calls pass. */
export interface ProviderGate {
  /** CDK context that sends the calls of a local run to ModelArk here, and to Model Studio. */
  context: Record<'modelArkBaseUrl', string>;
  studioContext: Record<'modelStudioBaseUrl', string>;
  /** Every call so far. */
  requests: readonly ReceivedRequest[];
  /** Called for each call: true when it has answered the call, or leaves it without an answer. At first, all pass. */
  stop: (request: ReceivedRequest, response: ServerResponse) => boolean;
  close(): Promise<void>;
}

/** Opens a gate. `sandboxUrl` is read at each call, so the sandbox may start later. */
export const openProviderGate = async (sandboxUrl: () => string): Promise<ProviderGate> => {
  const server = await new LoopbackServer().start();
  const gate: ProviderGate = {
    context: { modelArkBaseUrl: `${server.url}/api/v3` },
    studioContext: { modelStudioBaseUrl: server.url },
    requests: server.requests,
    stop: () => false,
    close: () => server.close(),
  };
  server.respond = (request, response) => {
    if (!gate.stop(request, response)) void forward(sandboxUrl() + request.path, request, response);
  };
  return gate;
};

/** The connection breaks when the sandbox does not answer. */
const forward = async (
  url: string,
  { method, headers, body }: ReceivedRequest,
  response: ServerResponse,
): Promise<void> => {
  try {
    const answer = await fetch(url, {
      method,
      headers: {
        authorization: headers.authorization ?? '',
        'content-type': 'application/json',
        ...(headers['x-dashscope-async'] === undefined ? {} : { 'x-dashscope-async': 'enable' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(bytes);
  } catch (error) {
    response.destroy(error as Error);
  }
};
