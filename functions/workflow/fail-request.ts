import * as z from 'zod/mini';
import {
  FailedExecution,
  failRequest,
  failureOfWorkflow,
  settleOrFailRequest,
} from '../../core/ending/fail-request.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/**
 * Ends the request as failed and refunds it in full. Once storing has begun, outputs that are recorded are
 * settled instead, and the files of others removed.
 */
export const handler = workflowTask(z.extend(TaskInput, FailedExecution.shape), (execution) => {
  const fail = execution.step?.result.next === 'store' ? settleOrFailRequest : failRequest;
  return fail(execution.requestId, failureOfWorkflow(execution));
});
