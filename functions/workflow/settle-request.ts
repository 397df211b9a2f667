import { endRequest } from '../../core/ending/end-request.ts';
import { settled } from '../../core/ending/settled.ts';
import { RequestFailedError } from '../../core/ending/workflow-failure.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/** Ends the request: charged for the stored outputs, refunded for the rest. Throws `RequestFailedError` for a request that has failed. */
export const handler = workflowTask(TaskInput, async ({ requestId }) => {
  const status = await endRequest(requestId, settled);
  if (status === 'failed') throw new RequestFailedError(`${requestId} has failed and is refunded.`);
});
