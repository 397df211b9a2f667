import { RequestFailedError, settleRequest } from '../../core/ending/settle-request.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/** Ends the request: charged for the stored outputs, refunded for the rest. Throws `RequestFailedError` for a request that has failed. */
export const handler = workflowTask(TaskInput, async ({ requestId }) => {
  const status = await settleRequest(requestId);
  if (status === 'failed') throw new RequestFailedError(`${requestId} has failed and is refunded.`);
});
