import type { Clock } from '../clock.ts';
import { removePauses } from '../end-users/pauses.ts';
import {
  closeRemoval,
  type EndUserRemoval,
  listForNextPass,
  nextPassAt,
  RECONCILER,
  removeClaimedEndUser,
} from '../end-users/removals.ts';
import { toInstant } from '../time.ts';
import { removeRequestsOf } from './remove-requests.ts';

/**
 * Makes a pass over the removal of an end-user, until `keepGoing` returns false. A pass that could not delete every request is made again.
 *
 * 1. Delete the end-user's requests that the index lists.
 * 2. If the end-user is still there, the call that claimed them died or ran out of time: remove them.
 * 3. If they are gone, list the removal for its next pass, for requests that the index does not show yet. After the last pass, a day
 *    later, close the removal.
 */
export const resumeRemoval = async (
  removal: EndUserRemoval,
  keepGoing: () => boolean,
  clock: Clock,
): Promise<void> => {
  const startedAt = clock.now();
  const { complete } = await removeRequestsOf(removal, startedAt, keepGoing);
  if (!complete) return;
  if (removal.removedAt === undefined) {
    await removePauses(removal);
    await removeClaimedEndUser(removal, RECONCILER, clock.now());
    return;
  }
  const next = nextPassAt(removal.removedAt, toInstant(startedAt));
  if (next === undefined) await closeRemoval(removal);
  else await listForNextPass(removal, next);
};
