import { isRemoved, isTerminal, statusAt } from '../requests/request-rules.ts';
import { findRequest, removeRequest } from '../requests/requests.ts';
import { finishDeletion } from './finish-deletion.ts';

/** What became of a deletion: done by this call with so many files, refused by the state, or nothing was there. */
export type Deletion =
  | { outcome: 'deleted'; removedObjects: number }
  | { outcome: 'conflict' }
  | { outcome: 'not_found' };

/**
 * Deletes one request of an account with its files and everything kept of it.
 *
 * 1. Leave alone what is not there, is another's, or is not terminal.
 * 2. Remove the record, leaving a mark that names its files. Of several calls at once, the one that removes it
 *    counts it.
 * 3. Remove the files and what is kept for operators. Whatever interrupts this, the reconciler goes on.
 */
export const deleteRequest = async (accountId: string, requestId: string, now: Date): Promise<Deletion> => {
  const request = await findRequest(requestId);
  if (request?.accountId !== accountId) return { outcome: 'not_found' };
  if (!isTerminal(request)) return { outcome: 'conflict' };

  const deleted = await removeRequest(request, now);
  if (!deleted) return { outcome: 'not_found' };
  const removed = await finishDeletion(deleted);
  // One past its retention reads as absent already; what was left of it is gone now too.
  if (isRemoved(request, now)) return { outcome: 'not_found' };
  // The files of an expired request count as gone, whether or not they were.
  return { outcome: 'deleted', removedObjects: statusAt(request, now) === 'expired' ? 0 : removed };
};

/** How many deletions are under way at once. */
const CONCURRENT_DELETIONS = 16;

/**
 * Deletes requests one by one, several at a time, until all are done or `keepGoing` says no. Gives what
 * became of each it took, in the order of the ids.
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
