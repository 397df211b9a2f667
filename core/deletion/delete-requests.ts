import { isRemoved, isTerminal, statusAt } from '../requests/request-rules.ts';
import { findRequest, removeRequest } from '../requests/requests.ts';
import { finishDeletion } from './finish-deletion.ts';

/** The outcome of a deletion: done by this call, refused because the request is unfinished, or nothing to delete. */
export type Deletion =
  | { outcome: 'deleted'; removedObjects: number }
  | { outcome: 'conflict' }
  | { outcome: 'not_found' };

/**
 * Deletes one request of an account with its files and everything else stored for it.
 *
 * 1. Refuse a request that is absent, another account's, or unfinished.
 * 2. Replace the record by a mark that names its files. Of concurrent calls, one removes the record and counts it.
 * 3. Remove the files and the operators' traces. If this is interrupted, the reconciler resumes it.
 */
export const deleteRequest = async (accountId: string, requestId: string, now: Date): Promise<Deletion> => {
  const request = await findRequest(requestId);
  if (request?.accountId !== accountId) return { outcome: 'not_found' };
  if (!isTerminal(request)) return { outcome: 'conflict' };

  const deleted = await removeRequest(request, now);
  if (!deleted) return { outcome: 'not_found' };
  const removed = await finishDeletion(deleted);
  // A request past its retention already reads as absent.
  if (isRemoved(request, now)) return { outcome: 'not_found' };
  // The files of an expired request count as removed already.
  return { outcome: 'deleted', removedObjects: statusAt(request, now) === 'expired' ? 0 : removed };
};

const CONCURRENT_DELETIONS = 16;

/**
 * Deletes requests, 16 at a time, until all are done or `keepGoing` returns false. Returns the outcome of each
 * request it took, in the order of the ids, and whether it took all.
 */
export const deleteRequests = async (
  accountId: string,
  requestIds: AsyncIterable<string> | Iterable<string>,
  now: Date,
  keepGoing: () => boolean = () => true,
): Promise<{ deletions: Map<string, Deletion>; complete: boolean }> => {
  const deletions = new Map<string, Deletion>();
  const queue = (async function* () {
    yield* requestIds;
  })();
  let complete = true;
  const worker = async (): Promise<void> => {
    for (;;) {
      if (!keepGoing()) {
        complete = false;
        return;
      }
      const { value: requestId, done } = await queue.next();
      if (done) return;
      deletions.set(requestId, { outcome: 'not_found' });
      deletions.set(requestId, await deleteRequest(accountId, requestId, now));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_DELETIONS }, worker));
  return { deletions, complete };
};
