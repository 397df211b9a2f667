import { type EndUserRemoval, isOfRemoved, mayBeOfRemoved } from '../end-users/removals.ts';
import { listRequestIdsOfEndUser } from '../requests/request-lists.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { deleteRequests } from './delete-requests.ts';

/** How much a call removed. */
export interface RemovedRequests {
  removedRequests: number;
  removedObjects: number;
}

/**
 * Deletes the requests of a claimed end-user that the index lists, until `keepGoing` returns false. Returns
 * how many this call removed, and whether it took all.
 */
export const removeRequestsOf = async (
  removal: EndUserRemoval,
  now: Date,
  keepGoing: () => boolean,
): Promise<{ removed: RemovedRequests; complete: boolean }> => {
  const { accountId } = removal;
  const isTheirs = (request: StoredRequest): boolean => isOfRemoved(removal, request);
  const ignore = (): void => undefined;
  const { deletions, complete } = await deleteRequests(
    accountId,
    requestIdsOf(removal),
    now,
    keepGoing,
    ignore,
    isTheirs,
  );
  const done = [...deletions.values()].flatMap((deletion) =>
    deletion.outcome === 'deleted' ? [deletion] : [],
  );
  const removedObjects = done.reduce((sum, deletion) => sum + deletion.removedObjects, 0);
  return { removed: { removedRequests: done.length, removedObjects }, complete };
};

/** Ids of the requests that may be of the removed end-user, as far as the index shows them. */
const requestIdsOf = async function* (removal: EndUserRemoval): AsyncGenerator<string> {
  for await (const requestId of listRequestIdsOfEndUser(removal.accountId, removal.email)) {
    if (mayBeOfRemoved(removal, requestId)) yield requestId;
  }
};
