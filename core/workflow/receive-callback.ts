import { type Clock, systemClock } from '../clock.ts';
import { NotFoundError, ServiceError } from '../errors.ts';
import { noteCallback } from '../provider-calls/provider-waits.ts';
import { PROVIDER_IDS, type ProviderRouteOf } from '../provider-calls/providers.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { isCallbackToken } from './callback-urls.ts';
import { catchUp } from './catch-up.ts';

/** The path parameters of a callback. */
export interface ProviderCallback {
  provider: string;
  requestId: string;
  token: string;
}

/** Providers wait 5 s for the answer to a callback, so the query must finish earlier. */
const QUERY_TIMEOUT_MS = 4_000;
const RETRY_AFTER_SECONDS = 5;

/**
 * Treats a provider's callback as a hint: queries the provider and wakes the execution if every task has
 * finished. A late or repeated callback changes nothing. One that arrives before the execution waits is noted
 * and read by `awaitProvider`.
 *
 * Throws `NotFoundError` for a wrong token, and `temporarily_unavailable`, so that the provider calls again,
 * when the query failed.
 */
export const receiveCallback = async (
  { provider, requestId, token }: ProviderCallback,
  providerRouteOf: ProviderRouteOf,
  clock: Clock = systemClock,
): Promise<void> => {
  const known = (PROVIDER_IDS as readonly string[]).includes(provider);
  if (!known || !(await isCallbackToken(token, requestId))) throw new NotFoundError('There is nothing here.');
  const request = await findRequest(requestId);
  if (!request || isTerminal(request)) return;
  const wait = await noteCallback(requestId, clock.now());
  const { answered } = await catchUp(request, wait, providerRouteOf, clock, QUERY_TIMEOUT_MS);
  if (answered) return;
  throw new ServiceError('temporarily_unavailable', 'The provider could not be queried.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
};
