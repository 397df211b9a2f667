import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { deleteItems } from '../table/batches.ts';
import {
  accountKey,
  apiKeyKey,
  deletedRequestPartition,
  endUserPartition,
  type ItemKey,
  idempotencyPartition,
  ledgerPartition,
} from '../table/keys.ts';
import { table, tableName } from '../table/table.ts';
import { listApiKeys } from './api-keys.ts';

/**
 * Access pattern 14: deletes an account that has no requests, with its keys, end-users, ledger and marks of deleted requests. The account goes before its ledger, so
 * that a verification finds both or no account. Safe to repeat.
 */
export const deleteAccount = async (accountId: string): Promise<void> => {
  const keys = await listApiKeys(accountId);
  await deleteItems(keys.map(({ keyId }) => apiKeyKey(keyId)));
  await deleteItems([accountKey(accountId)]);
  await removePartition(endUserPartition(accountId));
  await removePartition(idempotencyPartition(accountId));
  await removePartition(ledgerPartition(accountId));
  await removePartition(deletedRequestPartition(accountId));
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
