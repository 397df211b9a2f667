import * as z from 'zod/mini';
import { REQUEST_ID_PREFIX } from '../ids.ts';
import { requestPartition } from '../table/keys.ts';
import type { Instant } from '../time.ts';
import { isRemoved, listedState, listedStateOf, type RecordStatus, statusAt } from './request-rules.ts';

/** A request in an index. */
export const IndexEntry = z.object({
  PK: z.string(),
  expiresAt: z.optional(z.string()),
  ttl: z.optional(z.number()),
});
export type IndexEntry = z.infer<typeof IndexEntry>;

/** Whether an entry's request is in a list of this status at `now`, as far as the entry tells; without a status, in any. */
export const isListed = (entry: IndexEntry, status: RecordStatus | undefined, now: Date): boolean => {
  if (isRemoved(entry, now)) return false;
  if (status === undefined) return true;
  const state = listedState(entry);
  if (state !== listedStateOf(status)) return false;
  return state !== 'succeeded' || statusAt({ ...entry, status: state }, now) === status;
};

/**
 * Counts of ended requests. The times are those between which the succeeded ones expire, and all are removed: `firstTtl` and
 * `lastTtl` in epoch seconds.
 */
export type RequestCounts = {
  succeeded: number;
  failed: number;
  firstExpiresAt: Instant;
  lastExpiresAt: Instant;
  firstTtl: number;
  lastTtl: number;
};

/** Counts the entries of ended requests that are not removed at `now`. */
export const countEntries = (entries: readonly IndexEntry[], now: Date): RequestCounts => {
  const kept = entries.filter((entry) => !isRemoved(entry, now));
  const expiries = kept.flatMap(({ expiresAt }) => expiresAt ?? []).sort();
  const ttls = kept.flatMap(({ ttl }) => ttl ?? []).sort((a, b) => a - b);
  return {
    succeeded: expiries.length,
    failed: kept.length - expiries.length,
    firstExpiresAt: expiries[0] ?? '',
    lastExpiresAt: expiries.at(-1) ?? '',
    firstTtl: ttls[0] ?? 0,
    lastTtl: ttls.at(-1) ?? 0,
  };
};

/** Number of counted entries that `isListed` at `now`; undefined while they expire or are removed one by one. */
export const listedOf = (
  counts: RequestCounts,
  status: RecordStatus | undefined,
  now: Date,
): number | undefined => {
  const { succeeded, failed, firstExpiresAt, lastExpiresAt, firstTtl, lastTtl } = counts;
  if (isRemoved({ ttl: lastTtl }, now)) return 0;
  if (isRemoved({ ttl: firstTtl }, now)) return undefined;
  if (status === undefined) return succeeded + failed;
  const state = listedStateOf(status);
  if (state !== 'succeeded') return state === 'failed' ? failed : 0;
  const statusOf = (expiresAt: Instant): RecordStatus => statusAt({ status: 'succeeded', expiresAt }, now);
  if (statusOf(firstExpiresAt) !== statusOf(lastExpiresAt)) return undefined;
  return statusOf(firstExpiresAt) === status ? succeeded : 0;
};

/** The kind of the lists of requests: changes in them are noted together. */
export const REQUEST_LISTS = 'REQUESTS';
/** Positions in lists of image requests lie between these. */
export const OLDEST_IMAGE = requestPartition(REQUEST_ID_PREFIX.image);
export const NEWEST_IMAGE = requestPartition(`${REQUEST_ID_PREFIX.image}~`);
/** Half of the 10 characters of a ULID's time: changes are noted for 9 h together. */
const PART_LENGTH = 5;
/** The part of a list that a position is in. */
export const partOfPosition = (position: string): string =>
  position.slice(OLDEST_IMAGE.length, OLDEST_IMAGE.length + PART_LENGTH);
