import * as z from 'zod/mini';
import { deliverWebhook } from '../../core/webhooks/deliver-webhook.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/** Makes one try to deliver a request's webhook and says what comes next. */
export const handler = workflowTask(
  z.extend(TaskInput, { delivery: z.string() }),
  ({ requestId, delivery }) => deliverWebhook(requestId, delivery),
);
