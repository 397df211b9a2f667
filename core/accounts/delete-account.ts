import { PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import {
  accountKey,
  accountPartition,
  apiKeyKey,
  deletedRequestPartition,
  endUserPartition,
  type ItemKey,
  idempotencyPartition,
  ledgerPartition,
  TTL_ATTRIBUTE,
  webhookAttemptPartition,
  webhookAttemptsEndKey,
} from '../table/keys.ts';
import { deleteItems, partitionQuery, table, tableName } from '../table/table.ts';
import { addSeconds, SECONDS_PER_DAY, toEpochSeconds, toInstant } from '../time.ts';
import { listApiKeys } from './api-keys.ts';
import { listBalanceEvents } from './balance-events.ts';

/**
 * Access pattern 5: deletes an account without requests, and its keys, end-users, ledger, deletion marks, and balance events with
 * their webhook attempts. The account's item is removed before the ledger: a verification of ledgers finds both or no account,
 * and no webhook is sent without an account. Safe to repeat.
 */
export const deleteAccount = async (accountId: string, now: Date): Promise<void> => {
  const keys = await listApiKeys(accountId);
  await deleteItems(keys.map(({ keyId }) => apiKeyKey(keyId)));
  await deleteItems([accountKey(accountId)]);
  for (const { eventId } of await listBalanceEvents(accountId)) {
    await removePartition(webhookAttemptPartition(eventId));
    await endAttempts(eventId, now);
  }
  await removePartition(accountPartition(accountId));
  await removePartition(endUserPartition(accountId));
  await removePartition(idempotencyPartition(accountId));
  await removePartition(ledgerPartition(accountId));
  await removePartition(deletedRequestPartition(accountId));
};

/** Keeps an attempt that is under way from being recorded, for a day. */
const endAttempts = async (eventId: string, now: Date): Promise<void> => {
  const Item = {
    ...webhookAttemptsEndKey(eventId),
    [TTL_ATTRIBUTE]: toEpochSeconds(addSeconds(toInstant(now), SECONDS_PER_DAY)),
  };
  await table.send(new PutCommand({ TableName: tableName(), Item }));
};

/** Deletes page by page: what is deleted is not read again. */
const removePartition = async (partition: string): Promise<void> => {
  for (;;) {
    const { Items = [] } = await table.send(
      new QueryCommand({ ...partitionQuery(partition), ProjectionExpression: 'PK, SK' }),
    );
    if (Items.length === 0) return;
    await deleteItems(Items as ItemKey[]);
  }
};
