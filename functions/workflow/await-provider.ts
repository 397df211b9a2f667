import * as z from 'zod/mini';
import { awaitProvider } from '../../core/workflow/catch-up.ts';
import { providerRouteOf } from '../../providers/registry.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/** Keeps the token under which the execution waits; whoever has news of the provider wakes it. */
export const handler = workflowTask(
  z.extend(TaskInput, { taskToken: z.string() }),
  ({ requestId, taskToken }) => awaitProvider(requestId, taskToken, providerRouteOf),
);
