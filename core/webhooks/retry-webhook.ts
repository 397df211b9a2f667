import { ulid } from 'ulid';
import { type Clock, systemClock } from '../clock.ts';
import { ConflictError, NotFoundError } from '../errors.ts';
import { isRemoved, isTerminal } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { type Instant, toInstant } from '../time.ts';
import { startWebhookDelivery } from '../workflow/executions.ts';
import { webhookIdOf } from './webhook-rules.ts';

/** A delivery that an operator started. */
export interface QueuedWebhook {
  webhookId: string;
  queuedAt: Instant;
}

/**
 * Tells a request's end to its webhook again, whatever became of earlier deliveries: a delivery of its own
 * with the whole schedule, under the same webhook id, so that a receiver knows what it has seen.
 *
 * Throws `NotFoundError`, and `ConflictError` when it has no webhook or has not ended.
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
  await startWebhookDelivery(requestId, `-${ulid(now.getTime())}`);
  return { webhookId: webhookIdOf(requestId), queuedAt: toInstant(now) };
};
