import { type Clock, systemClock } from '../clock.ts';
import { claimForRemoval, type EndUserId, removeClaimedEndUser } from '../end-users/end-users.ts';
import { removePauses } from '../end-users/pauses.ts';
import { ConflictError, NotFoundError, ServiceError } from '../errors.ts';
import { creationTimeOf } from '../ids.ts';
import { listRequestIdsOfEndUser } from '../requests/request-lists.ts';
import type { Instant } from '../time.ts';
import { deleteRequests } from './delete-requests.ts';

/** How much a call removed. */
export interface EndUserRemoval {
  removedRequests: number;
  removedObjects: number;
}

/** How long one call deletes requests: API Gateway times out after 29 s. */
const BUDGET_MS = 20_000;

/**
 * Removes an end-user with all their requests and files.
 *
 * 1. Claim the end-user, on condition that no request of theirs is queued or processing. From then on they
 *    cannot create: a concurrent creation either comes first and refuses the claim, or is refused.
 * 2. Delete their requests up to the time of the claim. A newer request belongs to a new end-user who took the
 *    address after a concurrent call finished. When the time is up, throw `temporarily_unavailable`; a
 *    repeated call continues.
 * 3. Remove their pauses, then the end-user.
 *
 * Throws `NotFoundError`, and `ConflictError` while a request is queued or processing.
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
    const message = 'One call could not remove everything: repeat it to continue.';
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
