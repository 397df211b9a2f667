import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { insertAccount } from '../core/accounts/accounts.ts';
import { newRequestId } from '../core/ids.ts';
import type { ImageRequest } from '../core/requests/request-rules.ts';
import { insertRequestWrite } from '../core/requests/requests.ts';
import { table } from '../core/table/table.ts';
import { toInstant } from '../core/time.ts';
import { closeRequest } from '../core/workflow/close-request.ts';
import { WebhookReceiver } from '../test/unit/fakes/webhook-receiver.ts';
import type { WebhookService } from './webhook-service.ts';

/** Who the other half of the deliveries goes to. */
export type OtherHalf = 'nobody' | 'well' | 'dead';

/** What became of the half that is watched: all of it to a receiver that is well. */
export interface DeliveryFigures {
  otherHalf: OtherHalf;
  deliveries: number;
  /** From the end of a request to the arrival of its webhook, in ascending order. */
  milliseconds: number[];
  /** The most senders that were at work at once. */
  mostAtOnce: number;
  /** What the process used meanwhile, senders and receivers together: other than time, it does not depend on what else runs. */
  cpuSeconds: number;
}

/** How many deliveries are watched; as many go to the other half. */
export const WATCHED = 500;
/** How many of the watched requests end in a second, evenly. */
export const ENDINGS_PER_SECOND = 10;
/** How long those that are under way at the end are waited for. */
const PATIENCE_MS = 60_000;

/** Addresses that take no webhook: one takes connections and never answers, one takes none. */
const startDeadHost = async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => {
    sockets.add(socket);
    // The sender lets go in the middle of nothing, which is what is wanted.
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

/** A request that failed just now. */
const aFailedRequest = (accountId: string, webhookUrl: string): ImageRequest => {
  const now = new Date();
  const instant = toInstant(now);
  return {
    ...{ kind: 'image', requestId: newRequestId('image', now), accountId, webhookUrl },
    ...{ endUserEmail: 'bench@customer.example.com', model: 'xSD4.5', prompt: 'a lighthouse', size: '2K' },
    ...{ aspectRatio: 'auto', images: 1, sequential: false, references: [] },
    ...{ unitPriceThousandths: 4_000, debitThousandths: 4_000, refundThousandths: 4_000 },
    ...{ createdAt: instant, finishedAt: instant, status: 'failed' },
    error: { code: 'provider_error', message: 'The upstream provider returned an error.' },
  };
};

/**
 * Ends so many requests at an even pace for a receiver that is well, and as many for the other half, and sees when
 * the webhooks of the first arrive.
 */
export const measureDeliveries = async (
  service: WebhookService,
  otherHalf: OtherHalf,
  count = WATCHED,
): Promise<DeliveryFigures> => {
  const { accountId } = await insertAccount(`webhooks with ${otherHalf}`, new Date());
  const [watched, others, dead] = await Promise.all([
    new WebhookReceiver().start(),
    new WebhookReceiver().start(),
    startDeadHost(),
  ]);
  const otherUrls = { nobody: [], well: [others.url], dead: dead.urls }[otherHalf];
  const endedAt = new Map<string, number>();
  const end = async (webhookUrl: string): Promise<void> => {
    const request = aFailedRequest(accountId, webhookUrl);
    const { Item, TableName } = insertRequestWrite(request).Put ?? {};
    await table.send(new PutCommand({ TableName, Item }));
    endedAt.set(request.requestId, Date.now());
    await closeRequest(request.requestId);
  };

  service.takeMostAtOnce();
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const ending: Promise<void>[] = [];
  for (let number = 0; number < count; number++) {
    await sleep(Math.max(0, startedAt + (number * 1000) / ENDINGS_PER_SECOND - performance.now()));
    // The other half's come first, so that they are in the way if they can be.
    const other = otherUrls[number % otherUrls.length];
    if (other !== undefined) ending.push(end(other));
    ending.push(end(watched.url));
  }
  await Promise.all(ending);
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (watched.received.length < count && performance.now() < giveUpAt) await sleep(50);

  const { user, system } = process.cpuUsage(cpuBefore);

  const milliseconds = watched.received.map(({ headers, receivedAt }) => {
    const requestId = String(headers['webhook-id']).replace('msg_', '');
    return receivedAt.getTime() - (endedAt.get(requestId) ?? Number.NaN);
  });
  const figures = {
    otherHalf,
    deliveries: ending.length,
    milliseconds: milliseconds.toSorted((a, b) => a - b),
    mostAtOnce: service.takeMostAtOnce(),
    cpuSeconds: (user + system) / 1e6,
  };
  await Promise.all([watched.close(), others.close()]);
  dead.close();
  return figures;
};
