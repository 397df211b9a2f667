import { dispatchRequest } from '../../core/workflow/dispatch-request.ts';
import { providerRouteOf } from '../../providers/registry.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/** Makes the request's provider calls and returns the next step. */
export const handler = workflowTask(TaskInput, ({ requestId }) =>
  dispatchRequest(requestId, providerRouteOf),
);
