import { removeFilesOf } from '../files/remove-files.ts';
import { closeDeletion, type DeletedRequest } from '../requests/deleted-requests.ts';
import { removeTraces } from '../requests/request-traces.ts';

/**
 * Removes the files and the operators' traces of a deleted request, then closes the deletion. Returns the number
 * of files removed. If a file could not be removed, the deletion stays open work for the reconciler.
 */
export const finishDeletion = async (deleted: DeletedRequest): Promise<number> => {
  const { files = [], requestId } = deleted;
  const { removed, complete } = await removeFilesOf(deleted, files);
  await removeTraces(requestId);
  if (complete) await closeDeletion(deleted);
  return removed;
};
