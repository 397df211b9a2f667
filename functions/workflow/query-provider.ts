import { queryProvider } from '../../core/workflow/query-provider.ts';
import { providerRouteOf } from '../../providers/registry.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/** Asks the provider how far the request's tasks are and says what comes next. */
export const handler = workflowTask(TaskInput, ({ requestId }) => queryProvider(requestId, providerRouteOf));
