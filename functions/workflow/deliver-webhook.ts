import * as z from 'zod/mini';
import { subjectOfDelivery } from '../../core/executions/executions.ts';
import { deliverWebhook } from '../../core/webhooks/deliver-webhook.ts';
import { workflowTask } from '../workflow-task.ts';

/** Makes one attempt of a webhook delivery and returns the next step. `requestId` is null for a balance event, which the delivery names. */
export const handler = workflowTask(
  z.object({ requestId: z.nullable(z.string()), delivery: z.string() }),
  ({ requestId, delivery }) => deliverWebhook(subjectOfDelivery(requestId, delivery), delivery),
);
