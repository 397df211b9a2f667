import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { batchGetAll } from '../table/batches.ts';
import { deletedRequestKey, openWorkListing } from '../table/keys.ts';
import { type StoredItem, table, tableName } from '../table/table.ts';
import { type TransactItem, writeItem } from '../table/transactions.ts';

/**
 * What stays of a request that was deleted: that it was, as the ledger goes on naming it. `files` are those
 * whose removal is not known to be complete.
 */
export const DeletedRequest = z.object({
  accountId: z.string(),
  requestId: z.string(),
  deletedAt: z.string(),
  files: z.optional(z.array(z.string())),
});
export type DeletedRequest = z.infer<typeof DeletedRequest>;

export const toDeletedRequest = (item: StoredItem): DeletedRequest => DeletedRequest.parse(item);

/** Marks a request as deleted, in the transaction that removes it. What is left to be removed is open work. */
export const markDeletedWrite = (mark: DeletedRequest): TransactItem => ({
  Put: {
    TableName: tableName(),
    Item: {
      ...deletedRequestKey(mark.accountId, mark.requestId),
      ...openWorkListing(mark.requestId, mark.deletedAt),
      ...mark,
    },
  },
});

/** Access pattern 19: the mark of a deleted request, strongly consistent; undefined when it was not deleted. */
export const findDeletedRequest = async (
  accountId: string,
  requestId: string,
): Promise<DeletedRequest | undefined> => {
  const { Item } = await table.send(
    new GetCommand({
      TableName: tableName(),
      Key: deletedRequestKey(accountId, requestId),
      ConsistentRead: true,
    }),
  );
  return Item && toDeletedRequest(Item);
};

/** Marks of deleted requests, strongly consistent, in the order asked for; undefined where there is none. */
export const findDeletedRequests = async (
  ids: readonly Pick<DeletedRequest, 'accountId' | 'requestId'>[],
): Promise<(DeletedRequest | undefined)[]> => {
  const items = await batchGetAll(
    ids.map(({ accountId, requestId }) => deletedRequestKey(accountId, requestId)),
  );
  return items.map((item) => item && toDeletedRequest(item));
};

/** Takes a deletion off the open work: nothing of the request is left. Harmless the second time. */
export const closeDeletion = async ({ accountId, requestId }: DeletedRequest): Promise<void> => {
  await writeItem(
    new UpdateCommand({
      TableName: tableName(),
      Key: deletedRequestKey(accountId, requestId),
      UpdateExpression: 'REMOVE files, GSI1PK, GSI1SK',
    }),
  );
};
