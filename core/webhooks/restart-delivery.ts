import { startWebhookDelivery } from '../executions/executions.ts';
import { followingDeliverySuffix } from './webhook-rules.ts';

/**
 * Starts another delivery, by the present definition, in place of a request's first one, whose execution failed at `failedAt`. A
 * repeated call starts nothing. Any other delivery is not followed by one, so that a lasting fault does not repeat for ever.
 */
export const restartDelivery = async (
  requestId: string,
  failedDelivery: string,
  failedAt: Date,
): Promise<void> => {
  if (failedDelivery === requestId) await startWebhookDelivery(requestId, followingDeliverySuffix(failedAt));
};
