import * as z from 'zod/mini';
import { endRequest } from '../../core/ending/end-request.ts';
import { failedBeforeStoring, givenUp } from '../../core/ending/failed.ts';
import { FailedExecution, failureOfWorkflow, findEnd } from '../../core/ending/workflow-failure.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/**
 * Ends the request as failed and refunds it in full. Once storing has begun, outputs that are recorded are
 * settled instead, and the files of others removed. Returns how the request has ended.
 */
export const handler = workflowTask(z.extend(TaskInput, FailedExecution.shape), async (execution) => {
  const { requestId } = execution;
  const endingOf = execution.step?.result.next === 'store' ? givenUp : failedBeforeStoring;
  await endRequest(requestId, endingOf(failureOfWorkflow(execution)));
  return findEnd(requestId);
});
