import * as z from 'zod/mini';
import { subjectOfDelivery } from '../../core/executions/executions.ts';
import { deliverWebhook, makeFirstAttempt } from '../../core/webhooks/deliver-webhook.ts';
import { workflowTask } from '../workflow-task.ts';

const Delivery = z.object({ requestId: z.nullable(z.string()), delivery: z.string() });
/**
 * The event for a first attempt, from the process that ended the request or wrote the balance event, or from the reconciler. No
 * execution waits for an answer.
 */
const FirstAttempt = z.extend(Delivery, { stateMachineArn: z.string() });
/** The event for a later attempt, from the state machine. */
const NextAttempt = z.extend(Delivery, { attemptsMade: z.number() });

/** Makes one attempt of a webhook delivery. Returns the next step to the state machine. `requestId` is null for a balance event, which the delivery names. */
export const handler = workflowTask(z.union([FirstAttempt, NextAttempt]), async (input) => {
  const subjectId = subjectOfDelivery(input.requestId, input.delivery);
  if (!('stateMachineArn' in input)) return deliverWebhook({ ...input, subjectId });
  await makeFirstAttempt(subjectId, input.stateMachineArn);
  return undefined;
});
