import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import { type EndUserId, endUserNotFound } from '../end-users/end-users.ts';
import { removePauses } from '../end-users/pauses.ts';
import {
  claimForRemoval,
  type EndUserRemoval,
  findLastRemoval,
  RECONCILER,
  removeClaimedEndUser,
} from '../end-users/removals.ts';
import { ConflictError, NotFoundError, ServiceError } from '../errors.ts';
import { addSeconds, toInstant } from '../time.ts';
import { type RemovedRequests, removeRequestsOf } from './remove-requests.ts';
import { DeletionTime } from './time-limits.ts';

const NOTHING_LEFT: RemovedRequests = { removedRequests: 0, removedObjects: 0 };

/**
 * Removes an end-user with all their requests and files.
 *
 * 1. Claim the end-user, on condition that none of their requests is queued or processing. From then on they
 *    cannot create: a concurrent creation either comes first and refuses the claim, or is refused. The claim
 *    records the removal, so that the reconciler goes on if this call dies.
 * 2. Delete their requests. When the time is up, throw `temporarily_unavailable`; a repeated call continues,
 *    and so does the reconciler.
 * 3. Remove their pauses, then the end-user. The reconciler makes further passes for requests that the index does
 *    not show yet.
 *
 * Of concurrent calls one succeeds. A call repeated within 2 min of the reconciler's removal finds nothing left to remove.
 * Throws `NotFoundError`, and `ConflictError` while a request is queued or processing.
 */
export const deleteEndUser = async (id: EndUserId, clock: Clock = systemClock): Promise<RemovedRequests> => {
  const now = clock.now();
  let removal: EndUserRemoval | undefined;
  try {
    removal = await claimForRemoval(id, now);
  } catch (error) {
    if (error instanceof NotFoundError && (await hasReconcilerRemoved(id, now))) return NOTHING_LEFT;
    throw error;
  }
  if (removal === undefined) {
    throw new ConflictError(
      'This end-user has requests that are queued or processing: block, wait, try again.',
    );
  }
  const time = new DeletionTime(now, clock);
  const removed = await time.answerOf(finishRemoval(removal, time, clock));
  if (removed === undefined) {
    const message = 'One call could not remove everything: repeat it to continue.';
    throw new ServiceError('temporarily_unavailable', message, { retryAfterSeconds: 1 });
  }
  return removed;
};

/** Undefined when the time was up before everything was removed. */
const finishRemoval = async (
  removal: EndUserRemoval,
  time: DeletionTime,
  clock: Clock,
): Promise<RemovedRequests | undefined> => {
  const { removed, complete } = await removeRequestsOf(removal, time.startedAt, () => time.hasLeft());
  if (!complete) return undefined;
  await removePauses(removal);
  const call = randomUUID();
  const removedBy = await removeClaimedEndUser(removal, call, clock.now());
  if (removedBy !== call && removedBy !== RECONCILER) throw endUserNotFound();
  return removed;
};

/** How long after the reconciler removed an end-user a call repeated for them succeeds. */
const REPEATED_WITHIN_SECONDS = 120;

/** Whether the reconciler has just removed the end-user for an earlier call. */
const hasReconcilerRemoved = async (id: EndUserId, now: Date): Promise<boolean> => {
  const { removedAt = '', removedBy } = (await findLastRemoval(id)) ?? {};
  return removedBy === RECONCILER && removedAt >= addSeconds(toInstant(now), -REPEATED_WITHIN_SECONDS);
};
