import { queryProvider } from '../../core/waiting/query-provider.ts';
import { providerRouteOf } from '../../providers/registry.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/** Queries the provider for the request's open tasks and returns the next step. */
export const handler = workflowTask(TaskInput, ({ requestId }) => queryProvider(requestId, providerRouteOf));
