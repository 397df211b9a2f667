import { isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import { closeWork, findRequest } from '../requests/requests.ts';
import { dueListOf } from '../table/keys.ts';
import { startWebhookDelivery } from './executions.ts';

/**
 * Starts the webhook delivery of a terminal request, then takes it off the list of work left; if it succeeded, it
 * is then due when its files expire. The delivery is named by the request, so repeated calls start it once. Does
 * nothing while the request is unfinished, or when it is closed or deleted.
 *
 * `filesSettled` runs last. When it resolves to false, the request stays due for the reconciler.
 */
export const closeRequest = async (
  requestId: string,
  filesSettled: (request: StoredRequest) => Promise<boolean> = async () => true,
): Promise<void> => {
  const request = await findRequest(requestId);
  if (!request || dueListOf(request.GSI1PK) !== 'LOOK' || !isTerminal(request)) return;
  if (request.webhookUrl !== undefined) await startWebhookDelivery(requestId);
  if (await filesSettled(request)) await closeWork(request);
};
