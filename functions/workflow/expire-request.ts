import { expireRequest } from '../../core/deletion/expire-request.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/** Removes the files of an expired request. */
export const handler = workflowTask(TaskInput, ({ requestId }) => expireRequest(requestId));
