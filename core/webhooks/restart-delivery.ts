import { startWebhookDelivery } from '../executions/executions.ts';
import { followingDeliverySuffix } from './webhook-rules.ts';

/**
 * Starts another delivery, by the present definition, in place of the first one of a request or balance event, whose execution failed at `failedAt`. A
 * repeated call starts nothing. Any other delivery is not followed by one, so that a lasting fault does not repeat for ever.
 */
export const restartDelivery = async (
  subjectId: string,
  failedDelivery: string,
  failedAt: Date,
): Promise<void> => {
  if (failedDelivery === subjectId) await startWebhookDelivery(subjectId, followingDeliverySuffix(failedAt));
};
