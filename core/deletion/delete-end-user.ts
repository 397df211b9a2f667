import { type Clock, systemClock } from '../clock.ts';
import { claimForRemoval, type EndUserId, removeClaimedEndUser } from '../end-users/end-users.ts';
import { removePauses } from '../end-users/pauses.ts';
import { ConflictError, NotFoundError, ServiceError } from '../errors.ts';
import { creationTimeOf } from '../ids.ts';
import { listRequestIdsOfEndUser } from '../requests/request-lists.ts';
import type { Instant } from '../time.ts';
import { deleteRequests } from './delete-requests.ts';

/** What a cascade removed. */
export interface EndUserRemoval {
  removedRequests: number;
  removedObjects: number;
}

/** How long one call works on a cascade: the gateway gives up after 29 s. */
const BUDGET_MS = 20_000;

/**
 * Removes an end-user with all their requests and files.
 *
 * 1. Claim them, on the condition that none of their requests is queued or processing. From then on they
 *    cannot create: a creation at the same moment is either before the claim, and refuses it, or after, and
 *    is refused.
 * 2. Delete request after request, but none that is newer than the claim: it belongs to who took the address
 *    after another such call was done. When the time is up: `temporarily_unavailable`; a repeated call goes on.
 * 3. Remove what else bears their address, then the end-user.
 *
 * Throws `NotFoundError`, `ConflictError` while work is under way.
 */
export const deleteEndUser = async (id: EndUserId, clock: Clock = systemClock): Promise<EndUserRemoval> => {
  const now = clock.now();
  const claimedAt = await claimForRemoval(id, now);
  if (claimedAt === undefined) {
    throw new ConflictError(
      'This end-user has requests that are queued or processing: block, wait, try again.',
    );
  }
  const keepGoing = (): boolean => clock.now().getTime() - now.getTime() < BUDGET_MS;
  const requestIds = createdUntil(claimedAt, listRequestIdsOfEndUser(id.accountId, id.email));
  const { deletions, complete } = await deleteRequests(id.accountId, requestIds, now, keepGoing);
  if (!complete) {
    const message = 'There was more to remove than one call can: call again to go on.';
    throw new ServiceError('temporarily_unavailable', message, { retryAfterSeconds: 1 });
  }
  await removePauses(id);
  if (!(await removeClaimedEndUser(id))) throw new NotFoundError('There is no such end-user.');
  const removed = [...deletions.values()].flatMap((deletion) =>
    deletion.outcome === 'deleted' ? [deletion] : [],
  );
  return {
    removedRequests: removed.length,
    removedObjects: removed.reduce((sum, { removedObjects }) => sum + removedObjects, 0),
  };
};

const createdUntil = async function* (instant: Instant, requestIds: AsyncIterable<string>) {
  for await (const requestId of requestIds) {
    if (creationTimeOf(requestId) <= instant) yield requestId;
  }
};
