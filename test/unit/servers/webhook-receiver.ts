import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A delivery as received; `body` is the exact signed text. */
export interface ReceivedWebhook {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  receivedAt: Date;
}

type Respond = (webhook: ReceivedWebhook, response: ServerResponse) => void;

/** Answers with a status and no body. */
export const answering =
  (status: number, headers: Record<string, string> = {}): Respond =>
  (_webhook, response) =>
    response.writeHead(status, headers).end();

/** A webhook receiver on a free loopback port; accepts everything unless the test sets `respond`. */
export class WebhookReceiver {
  readonly received: ReceivedWebhook[] = [];
  /** Connections opened so far. */
  connections = 0;
  respond: Respond = answering(204);
  private readonly server = createServer(async (incoming, response) => {
    const { method = '', url: path = '', headers } = incoming;
    const webhook = { method, path, headers, body: await text(incoming), receivedAt: new Date() };
    this.received.push(webhook);
    this.respond(webhook, response);
  });

  async start(): Promise<this> {
    this.server.on('connection', () => {
      this.connections += 1;
    });
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  /** The deliveries to a path, in order of arrival. */
  sentTo(path: string): ReceivedWebhook[] {
    return this.received.filter((webhook) => webhook.path === path);
  }

  /** Forgets its deliveries and accepts everything again, for the next test. */
  reset(): void {
    this.received.length = 0;
    this.connections = 0;
    this.respond = answering(204);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** The headers that verify a delivery, as the official library takes them. */
export const signatureOf = ({ headers }: Pick<ReceivedWebhook, 'headers'>): Record<string, string> =>
  Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(headers[name])]),
  );
