import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { insertAccount } from '../../core/accounts/accounts.ts';
import { newRequestId } from '../../core/ids.ts';
import type { ImageRequest } from '../../core/requests/request-rules.ts';
import { insertRequestWrite } from '../../core/requests/requests.ts';
import { table } from '../../core/table/table.ts';
import { toInstant } from '../../core/time.ts';
import { closeRequest } from '../../core/workflow/close-request.ts';
import { WebhookReceiver } from '../../test/unit/servers/webhook-receiver.ts';
import type { WebhookService } from './service.ts';

/** The receivers of the other half of the deliveries. */
export type OtherHalf = 'none' | 'healthy' | 'dead';

/** The measurements of the watched half, which goes to a healthy receiver. */
export interface DeliveryFigures {
  otherHalf: OtherHalf;
  deliveries: number;
  /** From the end of each request to the arrival of its webhook, ascending. */
  milliseconds: number[];
  /** Maximum number of concurrent senders. */
  mostAtOnce: number;
  /** CPU time of the process, senders and receivers together. Unlike the times, other load hardly affects it. */
  cpuSeconds: number;
}

/** Number of watched deliveries; as many go to the other half. */
export const WATCHED = 500;
/** Rate at which the watched requests finish, evenly spaced. */
export const FINISHED_PER_SECOND = 10;
/** How long to wait for the deliveries still in flight. */
const DRAIN_TIMEOUT_MS = 60_000;

/** URLs that accept no webhook: one accepts connections but never responds, one refuses connections. */
const startDeadHost = async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => {
    sockets.add(socket);
    // Ignores the reset when the sender times out.
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const closed = createServer();
  await once(closed.listen(0, '127.0.0.1'), 'listening');
  const [silentUrl = '', refusingUrl = ''] = [silent, closed].map(
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
  );
  closed.close();
  return {
    urls: [silentUrl, refusingUrl],
    close: () => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    },
  };
};

/** A request that has just failed. */
const aFailedRequest = (accountId: string, webhookUrl: string): ImageRequest => {
  const now = new Date();
  const instant = toInstant(now);
  return {
    ...{ kind: 'image', requestId: newRequestId('image', now), accountId, webhookUrl },
    ...{
      endUserEmail: 'bench@customer.example.com',
      endUserId: 'bench',
      model: 'xSD4.5',
      prompt: 'a lighthouse',
      size: '2K',
    },
    ...{ aspectRatio: 'auto', images: 1, sequential: false, references: [] },
    ...{ unitPriceThousandths: 4_000, debitThousandths: 4_000, refundThousandths: 4_000 },
    ...{ createdAt: instant, retentionDays: 90, finishedAt: instant, status: 'failed' },
    error: { code: 'provider_error', message: 'The upstream provider returned an error.' },
  };
};

/**
 * Finishes `count` requests at an even rate with webhooks to a healthy receiver, and as many with webhooks to the other
 * half. Measures when the webhooks to the healthy receiver arrive.
 */
export const measureDeliveries = async (
  service: WebhookService,
  otherHalf: OtherHalf,
  count: number,
): Promise<DeliveryFigures> => {
  const { accountId } = await insertAccount(`webhooks with ${otherHalf}`, new Date());
  const [watched, others, dead] = await Promise.all([
    new WebhookReceiver().start(),
    new WebhookReceiver().start(),
    startDeadHost(),
  ]);
  const otherUrls = { none: [], healthy: [others.url], dead: dead.urls }[otherHalf];
  const finishedAt = new Map<string, number>();
  const finish = async (webhookUrl: string): Promise<void> => {
    const request = aFailedRequest(accountId, webhookUrl);
    const { Item, TableName } = insertRequestWrite(request).Put ?? {};
    await table.send(new PutCommand({ TableName, Item }));
    finishedAt.set(request.requestId, Date.now());
    await closeRequest(request.requestId);
  };

  service.takeMostAtOnce();
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const finished: Promise<void>[] = [];
  for (let number = 0; number < count; number++) {
    await sleep(Math.max(0, startedAt + (number * 1000) / FINISHED_PER_SECOND - performance.now()));
    // The other half goes first, to be in the way if it can.
    const other = otherUrls[number % otherUrls.length];
    if (other !== undefined) finished.push(finish(other));
    finished.push(finish(watched.url));
  }
  await Promise.all(finished);
  const drainUntil = performance.now() + DRAIN_TIMEOUT_MS;
  while (watched.received.length < count && performance.now() < drainUntil) await sleep(50);

  const { user, system } = process.cpuUsage(cpuBefore);
  const milliseconds = watched.received.map(({ headers, receivedAt }) => {
    const requestId = String(headers['webhook-id']).replace('msg_', '');
    return receivedAt.getTime() - (finishedAt.get(requestId) ?? Number.NaN);
  });
  const figures = {
    otherHalf,
    deliveries: finished.length,
    milliseconds: milliseconds.toSorted((a, b) => a - b),
    mostAtOnce: service.takeMostAtOnce(),
    cpuSeconds: (user + system) / 1e6,
  };
  await Promise.all([watched.close(), others.close()]);
  dead.close();
  return figures;
};
