import { isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import { addSeconds, secondsSince, toInstant } from '../time.ts';

/** The states of an entry: its call waits, was answered with 408, or was answered with the images. */
export const ENTRY_STATES = ['open', 'released', 'answered'] as const;

/** The part of a stored entry that decides who may take the entry. `retry` is the count of retries of the entry's call. */
export interface TakeableEntry {
  state: (typeof ENTRY_STATES)[number];
  requestId?: string | undefined;
  retry: number;
  /** The instant of the last change. */
  at: string;
}

/** An entry that no call has touched for 10 min is not taken over any more. */
const TAKEABLE_SECONDS = 600;
/** Seconds after an answer in which a retry gets the same images, because the answer may have been lost. */
const LOST_SECONDS = 10;

/** The kinds of entries that a call may take, in the order of preference. The previous attempt has one retry less than the call. */
const KINDS = [
  'released, ended',
  'released, running',
  'open, of the previous attempt',
  'released to another client, ended',
  'released to another client, running',
  'open, of an earlier attempt',
  'answered to an earlier attempt',
  'answered to the same or a later attempt',
] as const;
type Kind = (typeof KINDS)[number];

/**
 * Whether a call with this count of retries may take an entry, before the entry's request is read. Every call may take an entry
 * released with 408. A retry may also take an entry that was just answered, or the entry of a waiting call with fewer retries.
 */
export const mayTake = ({ state, retry, at }: TakeableEntry, ownRetry: number, now: Date): boolean => {
  const seconds = state === 'answered' ? LOST_SECONDS : TAKEABLE_SECONDS;
  if (at <= addSeconds(toInstant(now), -seconds)) return false;
  return state === 'released' || (ownRetry > 0 && (state === 'answered' || retry < ownRetry));
};

/** The kind of an entry for a call with this count of retries. Undefined for a failed request: a failure is refunded and not repeated. */
const kindOf = (
  { state, retry }: TakeableEntry,
  ownRetry: number,
  request: StoredRequest | undefined,
): Kind | undefined => {
  const isPrevious = retry === ownRetry - 1;
  if (state === 'released') {
    const isEnded = request !== undefined && isTerminal(request);
    if (ownRetry === 0 || isPrevious) return isEnded ? 'released, ended' : 'released, running';
    return isEnded ? 'released to another client, ended' : 'released to another client, running';
  }
  if (state === 'open') return isPrevious ? 'open, of the previous attempt' : 'open, of an earlier attempt';
  if (request?.status === 'failed') return undefined;
  return retry < ownRetry ? 'answered to an earlier attempt' : 'answered to the same or a later attempt';
};

/**
 * The entries that a call with this count of retries takes, the best first: by kind, then the nearest count of retries, then the newest answer.
 * Released entries of one kind keep the given order. `requestOf` reads the request of an entry.
 */
export const inOrderOfTaking = <Entry extends TakeableEntry>(
  entries: readonly Entry[],
  ownRetry: number,
  requestOf: (entry: Entry) => StoredRequest | undefined,
  now: Date,
): Entry[] =>
  entries
    .flatMap((entry) => {
      const kind = kindOf(entry, ownRetry, requestOf(entry));
      if (kind === undefined) return [];
      const steps = entry.state === 'released' ? 0 : Math.abs(ownRetry - entry.retry);
      const seconds = entry.state === 'answered' ? secondsSince(entry.at, now) : 0;
      return [{ entry, order: [KINDS.indexOf(kind), steps, seconds] as const }];
    })
    .sort(({ order: one }, { order: other }) => one[0] - other[0] || one[1] - other[1] || one[2] - other[2])
    .map(({ entry }) => entry);
