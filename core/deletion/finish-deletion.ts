import { removeFilesOf } from '../files/request-files.ts';
import { closeDeletion, type DeletedRequest } from '../requests/deleted-requests.ts';
import {
  type ItemKey,
  requestKey,
  requestPartition,
  webhookAttemptPartition,
  webhookAttemptsEndKey,
} from '../table/keys.ts';
import { deleteItems, partitionQuery, queryAll } from '../table/table.ts';

/**
 * Access pattern 25: removes the files of a deleted request and its further items, then closes the deletion. Reports the number
 * of removed files at once. A deletion that failed in part stays due for the reconciler, and so does a deletion with routes to
 * leave or tasks to cancel. Attempts and wait are kept for these tasks: a late callback or outcome changes the kept items, and
 * brings no removed item back.
 */
export const finishDeletion = async (
  deleted: Pick<DeletedRequest, 'accountId' | 'requestId' | 'files' | 'routes' | 'model'>,
  onFilesRemoved: (count: number) => void = () => undefined,
): Promise<void> => {
  const { files = [], routes = [], requestId } = deleted;
  const { removed, complete } = await removeFilesOf(deleted, files);
  onFilesRemoved(removed);
  if (deleted.model !== undefined) return;
  await removeTraces(requestId);
  if (complete && routes.length === 0) await closeDeletion(deleted);
};

/**
 * Removes provider attempts, provider wait and webhook attempts of a request. Leaves the end of its webhook attempts, which keeps late
 * ones out.
 */
const removeTraces = async (requestId: string): Promise<void> => {
  const kept = [requestKey(requestId), webhookAttemptsEndKey(requestId)].map(({ SK }) => SK);
  const keys: ItemKey[] = [];
  const list = async (partition: string): Promise<void> => {
    const query = { ...partitionQuery(partition), ProjectionExpression: 'PK, SK' };
    for await (const { PK, SK } of queryAll(query)) {
      if (!kept.includes(String(SK))) keys.push({ PK: String(PK), SK: String(SK) });
    }
  };
  await Promise.all([requestPartition(requestId), webhookAttemptPartition(requestId)].map(list));
  await deleteItems(keys);
};
