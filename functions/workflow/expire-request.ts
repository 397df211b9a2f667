import { expireRequest } from '../../core/deletion/expire-request.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/** Removes the files of a request whose time is over. */
export const handler = workflowTask(TaskInput, ({ requestId }) => expireRequest(requestId));
