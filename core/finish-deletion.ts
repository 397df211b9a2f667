import { closeDeletion, type DeletedRequest } from './deleted-requests.ts';
import { removeObjects } from './object-removal.ts';
import { removeTraces } from './request-traces.ts';

/**
 * Removes what is left of a deleted request: its files, as well as it can, and what was kept of it for
 * operators. Gives how many files are gone. What could not be removed stays open work: the reconciler goes on.
 */
export const finishDeletion = async (deleted: DeletedRequest): Promise<number> => {
  const { files = [], requestId } = deleted;
  const removed = await removeObjects(files);
  await removeTraces(requestId);
  if (removed === files.length) await closeDeletion(deleted);
  return removed;
};
