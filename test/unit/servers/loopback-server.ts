import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as the server received it; a body is parsed as JSON. */
export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: unknown;
}

type Respond = (request: ReceivedRequest, response: ServerResponse, incoming: IncomingMessage) => void;

/** An HTTP server on a free loopback port with the test's answers; by default 404. */
export class LoopbackServer {
  readonly requests: ReceivedRequest[] = [];
  respond: Respond = (_, response) => response.writeHead(404).end();
  private readonly server = createServer((incoming, response) => this.receive(incoming, response));

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Forgets its requests and answers 404 again, for the next test. */
  reset(): void {
    this.requests.length = 0;
    this.respond = (_, response) => response.writeHead(404).end();
  }

  /** Answers every request with a status and a body: a string as it is, anything else as JSON. */
  answer(status: number, body: unknown, headers: Record<string, string> = {}): void {
    this.respond = (_, response) =>
      response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private receive(incoming: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const request = {
        method: incoming.method ?? '',
        path: incoming.url ?? '',
        headers: incoming.headers,
        body: text === '' ? undefined : JSON.parse(text),
      };
      this.requests.push(request);
      this.respond(request, response, incoming);
    });
  }
}

/** The URL of a port that refuses connections. */
export const aClosedUrl = async (): Promise<string> => {
  const server = await new LoopbackServer().start();
  const { url } = server;
  await server.close();
  return url;
};
