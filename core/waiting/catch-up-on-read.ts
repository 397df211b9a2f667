import { isReconcilerAlive } from '../executions/reconciler-run.ts';
import { logger } from '../observability.ts';
import { claimQuery, type ProviderWait, queriedWithin } from '../provider-calls/provider-waits.ts';
import type { ProviderRouteOf } from '../provider-calls/providers.ts';
import { isDueSoon, type StoredRequest } from '../requests/request-rules.ts';
import { type Clock, systemClock } from '../time.ts';
import { catchUp } from './catch-up.ts';

/** Reads query the provider at most once per this interval. */
const QUERY_INTERVAL_SECONDS = 10;
/** The most a query may add to a read. */
const QUERY_TIMEOUT_MS = 4_000;

/**
 * Queries the provider when a caller reads a processing request, unless it was queried within the last 10 s, or the request is due soon
 * and the reconciler is alive to query it.
 * An error is logged and does not fail the read: the control loop queries too.
 */
export const catchUpOnRead = async (
  request: StoredRequest,
  wait: ProviderWait | undefined,
  providerRouteOf: ProviderRouteOf,
  clock: Clock = systemClock,
): Promise<void> => {
  const now = clock.now();
  if (request.status !== 'processing' || queriedWithin(wait, QUERY_INTERVAL_SECONDS, now)) return;
  try {
    if (isDueSoon(request, now) && (await isReconcilerAlive(now))) return;
    if (await claimQuery(request.requestId, QUERY_INTERVAL_SECONDS, now)) {
      await catchUp(request, providerRouteOf, clock, QUERY_TIMEOUT_MS);
    }
  } catch (error) {
    logger.error('a read could not catch up with the provider', { error: error as Error });
  }
};
