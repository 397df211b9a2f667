import { requiredEnv } from '../core/environment.ts';
import { ConflictError, NotFoundError } from '../core/errors.ts';
import { startWebhookDelivery } from '../core/executions/executions.ts';
import { isRemoved, isTerminal } from '../core/requests/request-rules.ts';
import { findRequest } from '../core/requests/requests.ts';
import { type Clock, type Instant, systemClock, toInstant } from '../core/time.ts';
import { newDeliverySuffix, webhookIdOf } from '../core/webhooks/webhook-rules.ts';

/** A webhook delivery that an operator started. */
export interface QueuedWebhook {
  webhookId: string;
  queuedAt: Instant;
}

/**
 * Starts another webhook delivery with the whole retry schedule, whether or not earlier ones succeeded. It
 * keeps the webhook id, so that a receiver recognizes a repeat.
 *
 * Throws `NotFoundError`, and `ConflictError` when the request has no webhook or is unfinished.
 */
export const retryWebhook = async (requestId: string, clock: Clock = systemClock): Promise<QueuedWebhook> => {
  const now = clock.now();
  const request = await findRequest(requestId);
  if (!request || isRemoved(request, now)) throw new NotFoundError(`There is no request ${requestId}.`);
  if (request.webhookUrl === undefined) throw new ConflictError(`Request ${requestId} has no webhook.`);
  if (!isTerminal(request)) {
    throw new ConflictError(
      `Request ${requestId} is ${request.status}: its webhook is sent when it has ended.`,
    );
  }
  const { accountId, model } = request;
  await startWebhookDelivery(
    requiredEnv('WEBHOOK_DELIVERY_STATE_MACHINE_ARN'),
    { id: requestId, accountId, model },
    { suffix: newDeliverySuffix(now) },
  );
  return { webhookId: webhookIdOf(requestId), queuedAt: toInstant(now) };
};
