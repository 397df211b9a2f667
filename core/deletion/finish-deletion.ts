import { removeFilesOf } from '../files/remove-files.ts';
import { closeDeletion, type DeletedRequest } from '../requests/deleted-requests.ts';
import { removeTraces } from '../requests/request-traces.ts';

/**
 * Removes what is left of a deleted request: its files, as well as it can, and what was kept of it for
 * operators. Gives how many files are gone. What could not be removed stays open work: the reconciler goes on.
 */
export const finishDeletion = async (deleted: DeletedRequest): Promise<number> => {
  const { files = [], requestId } = deleted;
  const { removed, complete } = await removeFilesOf(deleted, files);
  await removeTraces(requestId);
  if (complete) await closeDeletion(deleted);
  return removed;
};
