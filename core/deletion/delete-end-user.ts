import { randomUUID } from 'node:crypto';
import { type EndUserId, endUserNotFound } from '../end-users/end-users.ts';
import { removePauses } from '../end-users/pauses.ts';
import {
  claimForRemoval,
  closeRemoval,
  type EndUserRemoval,
  findLastRemoval,
  listForNextPass,
  mayBeOfRemoved,
  nextPassAt,
  RECONCILER,
  removeClaimedEndUser,
} from '../end-users/removals.ts';
import { ConflictError, NotFoundError, ServiceError } from '../errors.ts';
import { listRequestIdsOfAccount } from '../requests/account-requests.ts';
import type { ExtraWrites } from '../table/transactions.ts';
import { addSeconds, type Clock, systemClock, toInstant } from '../time.ts';
import { answerOf, deleteRequests, whileInTime } from './delete-requests.ts';

/** The counts of a removal by one call. */
export interface RemovedRequests {
  removedRequests: number;
  removedObjects: number;
}
const NOTHING_LEFT: RemovedRequests = { removedRequests: 0, removedObjects: 0 };

/**
 * Removes an end-user with all their requests and files.
 *
 * 1. Claim the end-user, on condition that no request of the end-user is queued or processing. From then on every creation is
 *    refused; a creation that comes first refuses the claim. The claim records the removal, so that the reconciler resumes the
 *    removal if this call dies.
 * 2. Delete the end-user's requests. When the time is up, throw `temporarily_unavailable`; a repeated call or the reconciler
 *    continues.
 * 3. Remove the pauses, then the end-user. The reconciler makes further passes for requests that the index does not show yet.
 *
 * Only one of several concurrent calls succeeds. A call repeated within 2 min of a removal by the reconciler also succeeds. The
 * `extraWrites`, such as an audit record, commit with the claim. Throws `NotFoundError`, and `ConflictError` while a request is
 * queued or processing.
 */
export const deleteEndUser = async (
  id: EndUserId,
  clock: Clock = systemClock,
  extraWrites: ExtraWrites = [],
): Promise<RemovedRequests> => {
  const now = clock.now();
  let removal: EndUserRemoval | undefined;
  try {
    removal = await claimForRemoval(id, now, extraWrites);
  } catch (error) {
    if (error instanceof NotFoundError && (await hasReconcilerRemoved(id, now))) return NOTHING_LEFT;
    throw error;
  }
  if (removal === undefined) {
    throw new ConflictError(
      'This end-user has requests that are queued or processing: block, wait, try again.',
    );
  }
  const removed = await answerOf(finishRemoval(removal, now, clock), now, clock);
  if (removed === undefined) {
    const message = 'One call could not remove everything: repeat it to continue.';
    throw new ServiceError('temporarily_unavailable', message, { retryAfterSeconds: 1 });
  }
  return removed;
};

/** Finishes a claimed removal. Undefined when the time was up before everything was removed. */
const finishRemoval = async (
  removal: EndUserRemoval,
  startedAt: Date,
  clock: Clock,
): Promise<RemovedRequests | undefined> => {
  const inTime = whileInTime(startedAt, clock);
  const { removed, complete } = await removeRequestsOf(removal, startedAt, inTime);
  if (!complete) return undefined;
  await removePauses(removal);
  const call = randomUUID();
  const removedBy = await removeClaimedEndUser(removal, call, clock.now());
  if (removedBy !== call && removedBy !== RECONCILER) throw endUserNotFound();
  return removed;
};

/** Time after a removal by the reconciler in which a repeated call succeeds. */
const REPEATED_WITHIN_SECONDS = 120;

/** Whether the reconciler has just removed the end-user for an earlier call. */
const hasReconcilerRemoved = async (id: EndUserId, now: Date): Promise<boolean> => {
  const { removedAt = '', removedBy } = (await findLastRemoval(id)) ?? {};
  return removedBy === RECONCILER && removedAt >= addSeconds(toInstant(now), -REPEATED_WITHIN_SECONDS);
};

/**
 * Makes a pass of an end-user's removal, until `keepGoing` returns false. A pass that could not delete every request is repeated.
 *
 * 1. Delete the end-user's requests that the index lists.
 * 2. Remove the end-user if the call that claimed the removal died or ran out of time before it did.
 * 3. After the end-user's removal, list the removal for its next pass, for requests that the index does not show yet. Close the
 *    removal after the last pass, a day later.
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

/**
 * Deletes the requests of a claimed end-user that the index lists, until `keepGoing` returns false. Returns
 * how many this call removed, and whether it took all. Throws `ConflictError`.
 */
const removeRequestsOf = async (
  removal: EndUserRemoval,
  now: Date,
  keepGoing: () => boolean,
): Promise<{ removed: RemovedRequests; complete: boolean }> => {
  const { deletions, complete } = await deleteRequests(removal.accountId, requestIdsOf(removal), now, {
    keepGoing,
    // A later end-user may have the same address.
    isWanted: ({ endUserId }) => endUserId === removal.endUserId,
  });
  const all = [...deletions.values()];
  const done = all.filter((deletion) => deletion.outcome === 'deleted');
  // None is unfinished: such a request has a status of another version, and stays until that is back.
  if (all.some(({ outcome }) => outcome === 'conflict'))
    throw new ConflictError('A request of this end-user cannot be removed yet: try again later.');
  const removedObjects = done.reduce((sum, deletion) => sum + deletion.removedObjects, 0);
  return { removed: { removedRequests: done.length, removedObjects }, complete };
};

/** Ids of the requests that may be of the removed end-user, as far as the index shows them. */
const requestIdsOf = async function* (removal: EndUserRemoval): AsyncGenerator<string> {
  const { accountId, email: endUserEmail } = removal;
  for await (const requestId of listRequestIdsOfAccount(accountId, { endUserEmail })) {
    if (mayBeOfRemoved(removal, requestId)) yield requestId;
  }
};
