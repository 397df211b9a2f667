import * as z from 'zod/mini';
import { reconcileRequest } from '../../core/ending/end-lost-request.ts';
import { requiredEnv } from '../../core/environment.ts';
import { LOST_STATUSES } from '../../core/executions/execution-statuses.ts';
import { startWebhookDelivery, subjectOfDelivery } from '../../core/executions/executions.ts';
import { logger } from '../../core/observability.ts';
import { systemClock } from '../../core/time.ts';
import { followingDeliverySuffix } from '../../core/webhooks/webhook-rules.ts';
import { eventHandler } from '../event-handler.ts';

/** The fields used of a "Step Functions Execution Status Change" event. */
const ExecutionEnded = z.object({
  detail: z.object({
    stateMachineArn: z.string(),
    name: z.string(),
    status: z.enum(LOST_STATUSES),
    stopDate: z.number(),
    input: z.string(),
  }),
});
/** `requestId` is null for the delivery of a balance event, which names it. */
const ExecutionInput = z.object({
  requestId: z.nullable(z.string()),
  accountId: z.optional(z.string()),
  model: z.optional(z.string()),
});

/**
 * Repairs one request when its execution failed, timed out or was stopped. Starts a first delivery of its webhook again, by the present
 * definition, when that failed or timed out. Repeating it starts nothing more. Throws when it cannot, or its time runs out: Lambda then delivers the event again.
 */
export const handler = eventHandler(async (event) => {
  const { stateMachineArn, name, input, status, stopDate } = ExecutionEnded.parse(event).detail;
  const { requestId, accountId = '', model } = ExecutionInput.parse(JSON.parse(input));
  logger.appendKeys({ requestId });
  if (stateMachineArn === requiredEnv('WEBHOOK_DELIVERY_STATE_MACHINE_ARN')) {
    logger.warn('a webhook delivery failed', { delivery: name, status });
    const subject = subjectOfDelivery(requestId, name);
    // A delivery after the first is not followed by one, so that a lasting fault does not repeat for ever.
    const suffix = followingDeliverySuffix(new Date(stopDate));
    if (name === subject)
      await startWebhookDelivery(stateMachineArn, { id: subject, accountId, model }, { suffix });
  } else await reconcileRequest(z.string().parse(requestId), systemClock, status);
});
