import { awaitProvider } from '../../core/waiting/await-provider.ts';
import { providerRouteOf } from '../../providers/registry.ts';
import { WaitInput, workflowTask } from '../workflow-task.ts';

/** Begins the wait for the provider. A callback, a read or the reconciler ends it with the task token. */
export const handler = workflowTask(WaitInput, (wait) => awaitProvider(wait, providerRouteOf));
