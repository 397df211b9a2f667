import { isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import { closeWork, findRequest } from '../requests/requests.ts';
import { startExpiry, startWebhookDelivery } from './executions.ts';

/**
 * Starts what follows a request's end, whoever ended it: its webhook and its expiry. Each is named by the
 * request, so that it is started once however often this runs. Then the request is no longer open work.
 * Harmless while it is not terminal. `finish` is what else has to be done first; while it says no, the request
 * stays open work, and the reconciler comes back to it.
 */
export const followUp = async (
  requestId: string,
  finish: (request: StoredRequest) => Promise<boolean> = async () => true,
): Promise<void> => {
  const request = await findRequest(requestId);
  if (request?.GSI1PK === undefined || !isTerminal(request)) return;
  const { status, expiresAt, webhookUrl } = request;
  await Promise.all([
    webhookUrl === undefined ? undefined : startWebhookDelivery(requestId),
    status === 'succeeded' && expiresAt !== undefined ? startExpiry(requestId, expiresAt) : undefined,
  ]);
  if (await finish(request)) await closeWork(requestId);
};
