import { settleRequest } from '../../core/workflow/settle-request.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/** Ends the request by what was stored: charged for that, refunded for the rest. */
export const handler = workflowTask(TaskInput, ({ requestId }) => settleRequest(requestId));
