import { startWebhookDelivery } from '../executions/executions.ts';
import { checkStatus, isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import { closeWork, findRequest } from '../requests/requests.ts';
import { dueListOf } from '../table/keys.ts';
import { type Clock, systemClock } from '../time.ts';
import { hasNoTasks } from './cancel-tasks.ts';

/** Work to settle before a request is closed. Each function resolves to false until its work is done. */
export interface Settling {
  clock?: Clock;
  files?: (request: StoredRequest) => Promise<boolean>;
  /** By default only looks: only the reconciler cancels tasks. */
  tasks?: (request: StoredRequest) => Promise<boolean>;
}

/**
 * Starts the webhook delivery of a terminal request, then takes it off the list of work left; if it succeeded, it
 * is then due when its files expire. The delivery is named by the request, so repeated calls start it once. Does
 * nothing while the request is unfinished, or when it is closed or deleted.
 *
 * While its files or its provider's tasks are not settled, the request stays due for the reconciler, and this returns false.
 * Throws `UnknownStatusError`.
 */
export const closeRequest = async (
  requestId: string,
  {
    clock = systemClock,
    files = async () => true,
    tasks = (request) => hasNoTasks(request, clock),
  }: Settling = {},
): Promise<boolean> => {
  const request = await findRequest(requestId);
  if (!request || dueListOf(request.GSI1PK) !== 'LOOK' || !isTerminal(request)) return true;
  checkStatus(request);
  if (request.webhookUrl !== undefined) await startWebhookDelivery(requestId);
  const settled = [await tasks(request), await files(request)];
  if (!settled.every((isSettled) => isSettled)) return false;
  await closeWork(request);
  return true;
};
