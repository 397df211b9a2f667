import * as z from 'zod/mini';
import { awaitProvider } from '../../core/waiting/await-provider.ts';
import { providerRouteOf } from '../../providers/registry.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

const AwaitInput = z.extend(TaskInput, {
  taskToken: z.string(),
  enteredAt: z.string(),
  retries: z.number(),
});

/** Begins the wait for the provider. A callback, a read or the reconciler ends it with the task token. */
export const handler = workflowTask(AwaitInput, ({ requestId, taskToken, enteredAt, retries }) =>
  awaitProvider(requestId, taskToken, { enteredAt, retries }, providerRouteOf),
);
