import * as z from 'zod/mini';
import { Failure } from '../../core/errors.ts';
import { failStoredRequest } from '../../core/workflow/fail-stored-request.ts';
import { failRequest } from '../../core/workflow/settle-request.ts';
import { failureOfWorkflow } from '../../core/workflow/workflow-failures.ts';
import { workflowTask } from '../workflow-task.ts';

/** The workflow's state: a step that said "fail", or an error that a state caught. */
const FailInput = z.object({
  requestId: z.string(),
  step: z.optional(
    z.object({
      result: z.object({
        next: z.string(),
        error: z.optional(Failure),
      }),
    }),
  ),
  failure: z.optional(z.object({ Error: z.string(), Cause: z.optional(z.string()) })),
});

/** Ends the request as failed, with what made it fail, and refunds it in full. */
export const handler = workflowTask(FailInput, ({ requestId, step, failure }) => {
  const fail = step?.result.next === 'store' ? failStoredRequest : failRequest;
  return fail(requestId, failureOfWorkflow(step?.result, failure));
});
