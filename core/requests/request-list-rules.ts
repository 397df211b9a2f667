import { addSeconds, type Instant, later, SECONDS_PER_DAY, toInstant } from '../time.ts';
import { listedStateOf, type RecordStatus } from './request-rules.ts';

export interface QueryFilter {
  FilterExpression: string;
  names?: Record<string, string>;
  values?: Record<string, unknown>;
}

/**
 * A filter on index entries that passes requests which read as `status` at `now`; without a status, every request within its
 * retention. An entry does not distinguish queued from processing.
 */
export const listFilter = (status: RecordStatus | undefined, now: Date): QueryFilter => {
  const names = { '#ttl': 'ttl' };
  const isUnfinished = 'attribute_not_exists(#ttl)';
  const isKept = '#ttl > :seconds';
  const values = { ':seconds': now.getTime() / 1_000 };
  if (status === undefined) return { FilterExpression: `${isUnfinished} OR ${isKept}`, names, values };
  const state = listedStateOf(status);
  if (state === 'unfinished') return { FilterExpression: isUnfinished, names };
  if (state === 'failed')
    return { FilterExpression: `${isKept} AND attribute_not_exists(expiresAt)`, names, values };
  return {
    FilterExpression: `${isKept} AND expiresAt ${status === 'expired' ? '<=' : '>'} :now`,
    names,
    values: { ...values, ':now': toInstant(now) },
  };
};

/** Requests end within hours: an execution runs for 5 h at most, and the reconciler ends a request that has none. */
const MAX_UNFINISHED_SECONDS = 7 * SECONDS_PER_DAY;

/**
 * The instant after which the requests of a list were created; undefined for all. Unfinished requests are few, so a list of
 * them is read to its end, and the end is 7 days ago.
 */
export const createdSince = (
  status: RecordStatus | undefined,
  createdAfter: Instant | undefined,
  now: Date,
): Instant | undefined => {
  if (status === undefined || listedStateOf(status) !== 'unfinished') return createdAfter;
  const oldest = addSeconds(toInstant(now), -MAX_UNFINISHED_SECONDS);
  return createdAfter === undefined ? oldest : later(createdAfter, oldest);
};
