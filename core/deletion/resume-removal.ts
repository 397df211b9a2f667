import type { Clock } from '../clock.ts';
import { removePauses } from '../end-users/pauses.ts';
import {
  closeRemoval,
  type EndUserRemoval,
  RECONCILER,
  removeClaimedEndUser,
} from '../end-users/removals.ts';
import { removeRequestsOf } from './remove-requests.ts';

/**
 * Goes on with the removal of an end-user, until `keepGoing` returns false.
 *
 * 1. While the end-user is there, the call that claimed them died or ran out of time: finish it.
 * 2. Once they are gone, delete the requests that the index did not list then, and close the removal.
 */
export const resumeRemoval = async (
  removal: EndUserRemoval,
  keepGoing: () => boolean,
  clock: Clock,
): Promise<void> => {
  const { complete } = await removeRequestsOf(removal, clock.now(), keepGoing);
  if (!complete) return;
  if (removal.removedAt !== undefined) return closeRemoval(removal);
  await removePauses(removal);
  await removeClaimedEndUser(removal, RECONCILER, clock.now());
};
