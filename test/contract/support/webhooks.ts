import { Webhook } from 'standardwebhooks';
import { type ReceivedWebhook, signatureOf } from '../../unit/servers/webhook-receiver.ts';
import { type AnyRecord, eventually } from './client.ts';
import { endedExecution } from './executions.ts';
import { type LocalService, ops } from './local-service.ts';

/** The body of a webhook delivery. */
export interface WebhookEvent {
  type: string;
  timestamp: string;
  data: AnyRecord & { videos?: AnyRecord['images'] };
}

/** One attempt of a delivery, as `requests show` prints it. */
export interface ShownAttempt {
  delivery: string;
  number: number;
  startedAt: string;
  milliseconds: number;
  status?: number;
  error?: string;
}

/** The event of a delivery, verified by the official library. Throws when the signature is wrong. */
export const verified = (webhook: ReceivedWebhook | undefined, secret: string): WebhookEvent => {
  if (!webhook) throw new Error('Nothing was received.');
  return new Webhook(secret).verify(webhook.body, signatureOf(webhook)) as WebhookEvent;
};

/** Waits for a request's webhook delivery to end. Returns the status of its execution; undefined when the first attempt was the last: that needs none. */
export const deliveryEnded = async (
  service: LocalService,
  requestId: string,
): Promise<string | undefined> => {
  const [{ status = 0 } = {}] = await eventually(
    () => shownAttempts(service, requestId),
    (made) => made.length > 0,
  );
  if ((status >= 200 && status < 300) || status === 410) return undefined;
  return (await endedExecution(service, requestId, 'webhookDelivery')).status;
};

/** Every attempt of a request's webhook delivery, in time order. */
export const shownAttempts = async (service: LocalService, requestId: string): Promise<ShownAttempt[]> =>
  (await ops<{ webhooks: ShownAttempt[] }>(service, 'requests', 'show', '--id', requestId)).webhooks;
