import * as z from 'zod/mini';
import { failRequest, failureOfWorkflow, settleOrFailRequest } from '../../core/ending/fail-request.ts';
import { StoredFailure } from '../../core/errors.ts';
import { workflowTask } from '../workflow-task.ts';

/** The whole state of the execution: the last step's result and, if a state caught one, the error. */
const FailInput = z.object({
  requestId: z.string(),
  step: z.optional(
    z.object({
      result: z.object({
        next: z.string(),
        error: z.optional(StoredFailure),
      }),
    }),
  ),
  failure: z.optional(z.object({ Error: z.string(), Cause: z.optional(z.string()) })),
});

/**
 * Ends the request as failed and refunds it in full. Once storing has begun, outputs that are recorded are
 * settled instead, and the files of others removed.
 */
export const handler = workflowTask(FailInput, ({ requestId, step, failure }) => {
  const fail = step?.result.next === 'store' ? settleOrFailRequest : failRequest;
  return fail(requestId, failureOfWorkflow(step?.result, failure));
});
