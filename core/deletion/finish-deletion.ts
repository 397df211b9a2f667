import { removeFilesOf } from '../files/remove-files.ts';
import { closeDeletion, type DeletedRequest } from '../requests/deleted-requests.ts';
import { removeTraces } from '../requests/request-traces.ts';
import type { ItemKey } from '../table/keys.ts';

/**
 * Removes the files and the operators' traces of a deleted request, then closes the deletion. Tells how many files
 * were removed as soon as it is known. If a file could not be removed, or this throws, the deletion stays due for
 * the reconciler. `markKey` is for a mark of an earlier release.
 */
export const finishDeletion = async (
  deleted: DeletedRequest,
  onFilesRemoved: (count: number) => void = () => undefined,
  markKey?: ItemKey,
): Promise<void> => {
  const { files = [], requestId } = deleted;
  const { removed, complete } = await removeFilesOf(deleted, files);
  onFilesRemoved(removed);
  await removeTraces(requestId);
  if (complete) await closeDeletion(deleted, markKey);
};
