import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { listApiKeys } from '../accounts/api-keys.ts';
import { ConflictError } from '../errors.ts';
import { listRequestIdsOfAccount } from '../requests/account-requests.ts';
import { deleteItems } from '../table/batches.ts';
import { listCountsPartition } from '../table/count-keys.ts';
import {
  accountKey,
  apiKeyKey,
  endUserPartition,
  type ItemKey,
  idempotencyPartition,
  ledgerPartition,
} from '../table/keys.ts';
import { table, tableName } from '../table/table.ts';

/**
 * Access pattern 77: removes an account for good, with its keys, end-users and ledger: the trial account of `npm run
 * smoke`. The account goes before its ledger, so that a verification finds both or no account. Safe to repeat. Throws
 * `ConflictError` while the index lists a request of it.
 */
export const removeAccount = async (accountId: string): Promise<void> => {
  for await (const requestId of listRequestIdsOfAccount(accountId)) {
    throw new ConflictError(`Account ${accountId} still has request ${requestId}.`);
  }
  const keys = await listApiKeys(accountId);
  await deleteItems(keys.map(({ keyId }) => apiKeyKey(keyId)));
  await deleteItems([accountKey(accountId)]);
  await removePartition(endUserPartition(accountId));
  await removePartition(idempotencyPartition(accountId));
  await removePartition(ledgerPartition(accountId));
  await removePartition(listCountsPartition(accountId));
};

/** Deletes page by page: what is deleted is not read again. */
const removePartition = async (partition: string): Promise<void> => {
  for (;;) {
    const { Items = [] } = await table.send(
      new QueryCommand({
        TableName: tableName(),
        KeyConditionExpression: 'PK = :partition',
        ExpressionAttributeValues: { ':partition': partition },
        ProjectionExpression: 'PK, SK',
        ConsistentRead: true,
      }),
    );
    if (Items.length === 0) return;
    await deleteItems(Items as ItemKey[]);
  }
};
