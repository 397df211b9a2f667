import { settleRequest } from '../../core/ending/settle-request.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/** Ends the request: charged for the stored outputs, refunded for the rest. */
export const handler = workflowTask(TaskInput, ({ requestId }) => settleRequest(requestId));
