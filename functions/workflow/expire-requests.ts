import * as z from 'zod/mini';
import { expireRequests } from '../../core/deletion/expire-requests.ts';
import { workflowTask } from '../workflow-task.ts';

/** A batch. */
const Batch = z.object({ requestIds: z.array(z.string()) });

/** Removes the files of a batch of expired requests. */
export const handler = workflowTask(Batch, ({ requestIds }) => expireRequests(requestIds));
