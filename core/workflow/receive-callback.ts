import { type Clock, systemClock } from '../clock.ts';
import { NotFoundError, ServiceError } from '../errors.ts';
import { noteCallback } from '../provider-calls/provider-waits.ts';
import { PROVIDER_IDS, type ProviderRouteOf } from '../provider-calls/providers.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { isTransient } from '../transient-errors.ts';
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
 * when the query or an AWS service failed.
 */
export const receiveCallback = async (
  callback: ProviderCallback,
  providerRouteOf: ProviderRouteOf,
  clock: Clock = systemClock,
): Promise<void> => {
  try {
    if (await takeHint(callback, providerRouteOf, clock)) return;
  } catch (error) {
    if (isTransient(error)) throw unavailable('The callback could not be handled.', error);
    throw error;
  }
  throw unavailable('The provider could not be queried.');
};

const unavailable = (message: string, cause?: unknown): ServiceError =>
  new ServiceError('temporarily_unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });

/** Whether the callback is dealt with; false when the provider did not answer. */
const takeHint = async (
  { provider, requestId, token }: ProviderCallback,
  providerRouteOf: ProviderRouteOf,
  clock: Clock,
): Promise<boolean> => {
  const known = (PROVIDER_IDS as readonly string[]).includes(provider);
  if (!known || !(await isCallbackToken(token, requestId))) throw new NotFoundError('There is nothing here.');
  const request = await findRequest(requestId);
  if (!request || isTerminal(request)) return true;
  const wait = await noteCallback(requestId, clock.now());
  const { answered } = await catchUp(request, wait, providerRouteOf, clock, QUERY_TIMEOUT_MS);
  return answered;
};
