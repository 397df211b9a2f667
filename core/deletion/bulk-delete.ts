import { requestKindOf } from '../ids.ts';
import { type Clock, systemClock } from '../time.ts';
import { type DeletionOfMany, deleteRequests } from './delete-requests.ts';
import { DeletionTime } from './time-limits.ts';

/**
 * Deletes requests of an account and returns the outcome of each id, in their order, by 24 s after
 * `startedAt`. An id not deleted by then is `failed`: repeat the call, or the reconciler finishes a deletion
 * that has begun. A text that is not a request id is not looked up.
 */
export const bulkDelete = async (
  accountId: string,
  ids: readonly string[],
  startedAt: Date,
  clock: Clock = systemClock,
): Promise<Map<string, DeletionOfMany>> => {
  const outcomes = new Map<string, DeletionOfMany>(
    ids.map((id) => [id, { outcome: requestKindOf(id) ? 'failed' : 'not_found' }]),
  );
  const time = new DeletionTime(startedAt, clock);
  const options = { keepGoing: () => time.hasLeft(), deletions: outcomes };
  await time.answerOf(deleteRequests(accountId, ids.filter(requestKindOf), startedAt, options));
  return new Map(outcomes);
};
