import * as z from 'zod/mini';
import {
  FailedExecution,
  failRequest,
  failureOfWorkflow,
  findEnd,
  settleOrFailRequest,
} from '../../core/ending/fail-request.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/**
 * Ends the request as failed and refunds it in full. Once storing has begun, outputs that are recorded are
 * settled instead, and the files of others removed. Returns how the request has ended.
 */
export const handler = workflowTask(z.extend(TaskInput, FailedExecution.shape), async (execution) => {
  const { requestId } = execution;
  const fail = execution.step?.result.next === 'store' ? settleOrFailRequest : failRequest;
  await fail(requestId, failureOfWorkflow(execution));
  return findEnd(requestId);
});
