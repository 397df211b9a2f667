import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a request was, in order of arrival. */
export interface Seen {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** How the server answers a request; with `response.destroy()` it cuts the answer. */
export type Behavior = (seen: Seen, response: ServerResponse) => void | Promise<void>;

/** A real HTTP server on loopback that answers as a test says, one behaviour a request; the last one stays. */
export class FaultyServer {
  readonly seen: Seen[] = [];
  private behavior: Behavior = () => undefined;
  private readonly server = createServer((request, response) => void this.serve(request, response));

  async start(): Promise<this> {
    // Idle connections outlive every pause of a test.
    this.server.keepAliveTimeout = 60_000;
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  answer(...behaviors: Behavior[]): void {
    this.seen.length = 0;
    this.behavior = inTurn(...behaviors);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url: path = '', headers } = request;
    const seen = { method, path, headers, body: Buffer.concat(chunks).toString() };
    this.seen.push(seen);
    await this.behavior(seen, response);
  }
}

/** Answers with JSON. */
export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Behavior =>
  (_seen, response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'call-1', ...headers });
    response.end(JSON.stringify(body));
  };

/** Refuses with an error code. */
export const refuse = (status: number, code: string, headers: Record<string, string> = {}): Behavior =>
  json(status, { error: { code, message: `It is ${code}.` } }, headers);

/** Closes the connection without an answer. */
export const hangUp: Behavior = (_seen, response) => void response.destroy();

/** Announces a whole answer and closes the connection within it. */
export const cut: Behavior = (_seen, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"requestId":', () => response.destroy());
};

/** Answers as these do in turn; the last one stays. */
export const inTurn = (...behaviors: Behavior[]): Behavior => {
  let calls = 0;
  return (...call) => behaviors[Math.min(calls++, behaviors.length - 1)]?.(...call);
};

/** Never answers. */
export const hang: Behavior = () => undefined;
