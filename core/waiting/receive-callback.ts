import { setTimeout as sleep } from 'node:timers/promises';
import { NotFoundError, ServiceError } from '../errors.ts';
import { logger } from '../observability.ts';
import { isCallbackToken } from '../provider-calls/provider-urls.ts';
import {
  beginCallbackQuery,
  claimCallbackQuery,
  type ProviderWait,
} from '../provider-calls/provider-waits.ts';
import type { CallbackCheck, ProviderRouteOf } from '../provider-calls/providers.ts';
import { isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { type Clock, systemClock } from '../time.ts';
import { isTransient } from '../transient-errors.ts';
import { catchUp } from './catch-up.ts';

/** The path parameters of a callback, and its signature. */
export interface ProviderCallback {
  provider: string;
  requestId: string;
  token: string;
  /** Checks its signature, once its token is right. Absent for a provider that signs none. */
  check?: (now: Date) => Promise<CallbackCheck>;
}

/** Providers wait 5 s for the answer to a callback, so the query must finish earlier. */
const QUERY_TIMEOUT_MS = 4_000;
/** The callbacks of a request cause at most one query of its provider per interval, however often they are repeated. */
const QUERY_INTERVAL_SECONDS = 2;
const RETRY_AFTER_SECONDS = 5;

/**
 * Treats a provider's callback as a hint: queries the provider and wakes the execution if every task has finished. A late or
 * repeated callback changes nothing. A callback before the execution waits is recorded and read by `awaitProvider`. Debounced:
 * callbacks within 2 s of a query share one follow-up query, so a flood causes at most one query per 2 s and no callback is lost.
 *
 * Throws `NotFoundError` for a wrong token or signature, and `temporarily_unavailable`, so that the provider calls again,
 * when the query or an AWS service failed, or the signature cannot be checked now.
 */
export const receiveCallback = async (
  callback: ProviderCallback,
  providerRouteOf: ProviderRouteOf,
  clock: Clock = systemClock,
  pause: (milliseconds: number) => Promise<unknown> = sleep,
): Promise<void> => {
  try {
    if (await takeHint(callback, providerRouteOf, clock, pause)) return;
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
  { provider, requestId, token, check }: ProviderCallback,
  providerRouteOf: ProviderRouteOf,
  clock: Clock,
  pause: (milliseconds: number) => Promise<unknown>,
): Promise<boolean> => {
  // Only this deployment makes tokens, for its own providers, so a token never fits an unknown provider name.
  const isOurs = await isCallbackToken(token, provider, requestId, clock.now());
  if (!isOurs) throw new NotFoundError('There is nothing here.');
  const request = await findRequest(requestId);
  if (!request || isTerminal(request)) return true;
  const now = clock.now();
  const checked = check ? await check(now) : 'genuine';
  if (checked === 'forged') {
    logger.warn('callback signature refused', { provider, requestId });
    throw new NotFoundError('There is nothing here.');
  }
  if (checked === 'unknown') return false;
  const claimed = await claimCallbackQuery(requestId, QUERY_INTERVAL_SECONDS, now);
  if (!claimed) return true;
  const current = claimed.callbackQueryIsPlanned ? await planned(claimed, now, clock, pause) : request;
  if (!current) return true;
  return catchUp(current, providerRouteOf, clock, QUERY_TIMEOUT_MS);
};

/** The request at the time of the query; undefined when the request has ended, or another query serves the callback. */
const planned = async (
  { requestId, callbackQueryAt = '' }: ProviderWait,
  now: Date,
  clock: Clock,
  pause: (milliseconds: number) => Promise<unknown>,
): Promise<StoredRequest | undefined> => {
  // It may have been planned by another clock.
  const waitMs = Math.min(Date.parse(callbackQueryAt) - now.getTime(), QUERY_INTERVAL_SECONDS * 1000);
  if (waitMs > 0) await pause(waitMs);
  const wait = await beginCallbackQuery(requestId, callbackQueryAt, clock.now());
  const request = wait && (await findRequest(requestId));
  return request && !isTerminal(request) ? request : undefined;
};
