import * as z from 'zod/mini';
import { ExpiryCursor, listExpiredRequests } from '../../core/deletion/list-expired-requests.ts';
import { workflowTask } from '../workflow-task.ts';

/** The position of the page. */
const Input = z.object({ cursor: ExpiryCursor });

/** Lists a page of expired requests, in batches. */
export const handler = workflowTask(Input, ({ cursor }) => listExpiredRequests(cursor));
