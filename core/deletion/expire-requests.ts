import { removeObjects } from '../files/bucket.ts';
import { countMetric, logger, METRIC, runOrLog } from '../observability.ts';
import { possibleFilesOf } from '../requests/file-kinds.ts';
import { type StoredRequest, statusAt } from '../requests/request-rules.ts';
import { findRequest, markExpired, postponeExpiry } from '../requests/requests.ts';
import { dueListOf } from '../table/keys.ts';
import { addSeconds, type Clock, systemClock, toInstant } from '../time.ts';

/** The pause before the second attempt to remove a request's files. It doubles from attempt to attempt. */
const FIRST_PAUSE_SECONDS = 60;
const MAX_PAUSE_SECONDS = 3600;
/** Failed attempts after which an operator has to look: the sixth comes 31 min after the first. */
const FAILURES_UNTIL_NOTICE = 6;

/**
 * Removes the files of expired requests, and marks the records. Callers see no change: a record reads `expired` from `expiresAt`
 * on. Safe to repeat and to run concurrently: a request that is deleted, marked or not yet expired by this clock is left alone.
 *
 * 1. Read the records.
 * 2. Remove their files, up to 1,000 in one call.
 * 3. Mark each record without files, and take the record off the list. A record with remaining files is listed for a later
 *    attempt.
 *
 * Never rejects: a request that could not be read or marked stays due.
 */
export const expireRequests = async (
  requestIds: readonly string[],
  clock: Clock = systemClock,
): Promise<void> => {
  const found = await Promise.all(requestIds.map((id) => runOrLog(failureOf(id), () => findRequest(id))));
  const now = clock.now();
  const files = new Map<StoredRequest, string[]>();
  for (const request of found) {
    if (request && isToExpire(request, now)) files.set(request, possibleFilesOf(request));
  }
  const left = new Set(await removeObjects([...files.values()].flat()));
  await Promise.all(
    [...files].map(([request, keys]) =>
      runOrLog(failureOf(request.requestId), async () => {
        if (keys.some((key) => left.has(key))) await postpone(request, clock.now());
        else await markExpired(request.requestId, now);
      }),
    ),
  );
};

const isToExpire = (request: StoredRequest, now: Date): boolean => {
  if (request.unknownStatus !== undefined) return false;
  return dueListOf(request.GSI1PK) === 'EXPIRE' && statusAt(request, now) === 'expired';
};

const postpone = async (request: StoredRequest, now: Date): Promise<void> => {
  const failures = (request.removalFailures ?? 0) + 1;
  const pauseSeconds = Math.min(FIRST_PAUSE_SECONDS * 2 ** (failures - 1), MAX_PAUSE_SECONDS);
  logger.warn('expired files could not be removed', { requestId: request.requestId, failures, pauseSeconds });
  if (failures >= FAILURES_UNTIL_NOTICE) countMetric(METRIC.filesNotRemoved, {});
  await postponeExpiry(request, addSeconds(toInstant(now), pauseSeconds), failures);
};

const failureOf = (requestId: string) => ({ message: 'an expired request could not be handled', requestId });
