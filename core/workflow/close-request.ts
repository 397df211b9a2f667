import { isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import { closeWork, findRequest } from '../requests/requests.ts';
import { startExpiry, startWebhookDelivery } from './executions.ts';

/**
 * Starts the webhook delivery and the expiry of a terminal request, then takes it off the due list. Each
 * execution is named by the request, so repeated calls start it once. Does nothing while the request is
 * unfinished, or when it is closed or deleted.
 *
 * `filesSettled` runs last. When it resolves to false, the request stays due for the reconciler.
 */
export const closeRequest = async (
  requestId: string,
  filesSettled: (request: StoredRequest) => Promise<boolean> = async () => true,
): Promise<void> => {
  const request = await findRequest(requestId);
  if (request?.GSI1PK === undefined || !isTerminal(request)) return;
  const { status, expiresAt, webhookUrl } = request;
  await Promise.all([
    webhookUrl === undefined ? undefined : startWebhookDelivery(requestId),
    status === 'succeeded' && expiresAt !== undefined ? startExpiry(requestId, expiresAt) : undefined,
  ]);
  if (await filesSettled(request)) await closeWork(requestId);
};
