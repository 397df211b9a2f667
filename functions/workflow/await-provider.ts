import * as z from 'zod/mini';
import { awaitProvider } from '../../core/workflow/await-provider.ts';
import { providerRouteOf } from '../../providers/registry.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/** The token, and when its state was entered; executions begun with an older definition do not tell. */
const AwaitInput = z.extend(TaskInput, {
  taskToken: z.string(),
  enteredAt: z._default(z.string(), ''),
  retries: z._default(z.number(), 0),
});

/** Begins the wait for the provider. A callback, a read or the reconciler ends it with the task token. */
export const handler = workflowTask(AwaitInput, ({ requestId, taskToken, enteredAt, retries }) =>
  awaitProvider(requestId, taskToken, { enteredAt, retries }, providerRouteOf),
);
