import * as z from 'zod/mini';
import { awaitCapacity } from '../../core/admission/await-capacity.ts';
import { WaitInput, workflowTask } from '../workflow-task.ts';

/** The input of the wait, with the queue position that the dispatch named. */
const AwaitInput = z.extend(WaitInput, {
  position: z.object({
    route: z.string(),
    weight: z.number(),
    starts: z.number(),
    routes: z.optional(z.array(z.string())),
    timeoutSeconds: z.number(),
  }),
});

/**
 * Begins the wait for a provider's capacity. The reconciler ends it with the task token, once a permit is
 * free.
 */
export const handler = workflowTask(AwaitInput, ({ position, ...wait }) => awaitCapacity(wait, position));
