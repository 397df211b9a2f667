import { dispatchRequest } from '../../core/workflow/dispatch-request.ts';
import { providerRouteOf } from '../../providers/registry.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/** Hands the request to its provider and says what comes next. */
export const handler = workflowTask(TaskInput, ({ requestId }) =>
  dispatchRequest(requestId, providerRouteOf),
);
