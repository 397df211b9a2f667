import * as z from 'zod/mini';
import { deliverWebhook } from '../../core/webhooks/deliver-webhook.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/** Makes one attempt of a webhook delivery and returns the next step. */
export const handler = workflowTask(
  z.extend(TaskInput, { delivery: z.string() }),
  ({ requestId, delivery }) => deliverWebhook(requestId, delivery),
);
