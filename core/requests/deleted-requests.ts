import * as z from 'zod/mini';
import { newDeletionId } from '../ids.ts';
import {
  deletedRequestKey,
  dueListing,
  dueListOf,
  requestKey,
  TTL_ATTRIBUTE,
  webhookAttemptsEndKey,
} from '../table/keys.ts';
import { batchGet, getItem, putWrite, type StoredItem, tableName, updateOf } from '../table/table.ts';
import { refusedBy, type TransactItem, transact, writeUnlessRefused } from '../table/transactions.ts';
import { addSeconds, SECONDS_PER_DAY, toEpochSeconds, toInstant } from '../time.ts';
import { filesDeletedWith } from './file-kinds.ts';
import {
  AccountedRequest,
  gotAll,
  routesOfRequest,
  type StoredRequest,
  withKnownStatus,
} from './request-rules.ts';

/**
 * The mark of a deleted request, kept for ever because ledger entries refer to the request. `accounted` is the part that a
 * verification of the ledger needs. Until the deletion is closed, `files` are the files not yet known to be removed, and
 * `deletionId` identifies the deletion. `routes` are the routes where the request may still queue or hold a permit. `model` is
 * the request's model while a provider may work on its tasks. Only the reconciler can leave the routes and cancel the tasks, and
 * closes the deletion afterwards.
 */
export const DeletedRequest = z.object({
  accountId: z.string(),
  requestId: z.string(),
  deletedAt: z.string(),
  accounted: AccountedRequest,
  deletionId: z.optional(z.string()),
  files: z.optional(z.array(z.string())),
  routes: z.optional(z.array(z.string())),
  model: z.optional(z.string()),
});
export type DeletedRequest = z.infer<typeof DeletedRequest>;

/** A deletion from a stored item. Throws when the item is malformed. */
export const toDeletedRequest = (item: StoredItem): DeletedRequest => {
  const accounted = item.accounted as StoredItem | undefined;
  return DeletedRequest.parse({ ...item, accounted: accounted && withKnownStatus(accounted) });
};

/** Time for the deleting call to finish the deletion itself; afterwards the reconciler does. */
const FINISH_WITHIN_SECONDS = 60;

/**
 * Access pattern 26: records a deletion, in the transaction that removes the request, and lists it as due.
 */
export const markDeletedWrite = (deletion: DeletedRequest): TransactItem =>
  putWrite({
    ...deletedRequestKey(deletion.accountId, deletion.requestId),
    ...dueListing('CHECK', deletion.requestId, addSeconds(deletion.deletedAt, FINISH_WITHIN_SECONDS)),
    ...deletion,
  });

/** Far longer than an attempt of a webhook that is under way can still take. */
const ATTEMPTS_END_SECONDS = SECONDS_PER_DAY;

/** Access pattern 74: keeps late webhook attempts of a request from being recorded, in the transaction that removes the request. */
export const endWebhookAttemptsWrite = ({ requestId, deletedAt }: DeletedRequest): TransactItem =>
  putWrite({
    ...webhookAttemptsEndKey(requestId),
    [TTL_ATTRIBUTE]: toEpochSeconds(deletedAt) + ATTEMPTS_END_SECONDS,
  });

/** Access pattern 27: the deletion of a request, strongly consistent; undefined when it was not deleted. */
export const findDeletedRequest = async (
  accountId: string,
  requestId: string,
): Promise<DeletedRequest | undefined> => {
  const item = await getItem(deletedRequestKey(accountId, requestId));
  return item && toDeletedRequest(item);
};

/**
 * Access pattern 27: stored deletion marks of any number of distinct requests, strongly consistent, in the given order; undefined
 * for a request without a mark.
 */
export const findDeletionMarks = (
  ids: readonly Pick<DeletedRequest, 'accountId' | 'requestId'>[],
): Promise<(StoredItem | undefined)[]> =>
  batchGet(ids.map(({ accountId, requestId }) => deletedRequestKey(accountId, requestId)));

/**
 * Access pattern 28: closes a completed deletion, and takes its mark off the due list. Does nothing without a mark. Safe to
 * repeat.
 */
export const closeDeletion = async ({
  accountId,
  requestId,
}: Pick<DeletedRequest, 'accountId' | 'requestId'>): Promise<void> => {
  await writeUnlessRefused(
    updateOf(deletedRequestKey(accountId, requestId), {
      UpdateExpression: 'REMOVE files, deletionId, routes, #model, GSI1PK, GSI1SK',
      ConditionExpression: 'attribute_exists(PK)',
      ExpressionAttributeNames: { '#model': 'model' },
    }),
  );
};

const deletionMarkOf = (request: StoredRequest, now: Date, deletionId: string): DeletedRequest => {
  const { accountId, requestId } = request;
  const files = filesDeletedWith(request);
  const accounted = AccountedRequest.parse(request);
  const isClosed = dueListOf(request.GSI1PK) !== 'CHECK';
  const routes = isClosed ? [] : routesOfRequest(request);
  return {
    ...{ accountId, requestId, deletedAt: toInstant(now), accounted, deletionId, files },
    ...(routes.length > 0 && { routes }),
    ...(!isClosed && !gotAll(request) && { model: request.model }),
  };
};

/**
 * Access pattern 26: replaces a terminal request by its deletion mark, with the amounts and the files to remove. The mark of a
 * request that was not closed also has the routes to leave and the tasks to cancel. Returns the mark; undefined, with nothing
 * written, when the request is absent or not terminal. A deletion under the same `deletionId` whose answer was lost is returned,
 * not repeated.
 */
export const removeRequest = async (
  request: StoredRequest,
  now: Date,
  deletionId = newDeletionId(now),
): Promise<DeletedRequest | undefined> => {
  const { accountId, requestId } = request;
  const deletion = deletionMarkOf(request, now, deletionId);
  const isDone = async (): Promise<boolean> =>
    (await findDeletedRequest(accountId, requestId))?.deletionId === deletionId;
  let isRefused = false;
  try {
    await transact((refusals) => {
      isRefused = refusedBy(refusals, 0);
      if (isRefused) return [];
      return [
        {
          Delete: {
            TableName: tableName(),
            Key: requestKey(requestId),
            ConditionExpression: '#status IN (:succeeded, :failed)',
            ExpressionAttributeNames: { '#status': 'status' },
            ExpressionAttributeValues: { ':succeeded': 'succeeded', ':failed': 'failed' },
          },
        },
        markDeletedWrite(deletion),
        ...(request.webhookUrl === undefined ? [] : [endWebhookAttemptsWrite(deletion)]),
      ];
    });
  } catch (error) {
    if (await isDone()) return deletion;
    throw error;
  }
  return !isRefused || (await isDone()) ? deletion : undefined;
};
