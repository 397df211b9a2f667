import { deleteItems } from '../table/batches.ts';
import {
  type ItemKey,
  requestKey,
  requestPartition,
  webhookAttemptPartition,
  webhookAttemptsEndKey,
} from '../table/keys.ts';
import { queryAll } from '../table/queries.ts';
import { tableName } from '../table/table.ts';

/**
 * Access pattern 32: removes what is stored about a request beside itself: provider attempts, provider wait,
 * webhook attempts. Leaves the end of its webhook attempts, which keeps late ones out.
 */
export const removeTraces = async (requestId: string): Promise<void> => {
  const kept = [requestKey(requestId), webhookAttemptsEndKey(requestId)].map(({ SK }) => SK);
  const keys: ItemKey[] = [];
  const list = async (partition: string): Promise<void> => {
    const query = {
      TableName: tableName(),
      KeyConditionExpression: 'PK = :partition',
      ExpressionAttributeValues: { ':partition': partition },
      ProjectionExpression: 'PK, SK',
      ConsistentRead: true,
    };
    for await (const { PK, SK } of queryAll(query)) {
      if (!kept.includes(String(SK))) keys.push({ PK: String(PK), SK: String(SK) });
    }
  };
  await Promise.all([requestPartition(requestId), webhookAttemptPartition(requestId)].map(list));
  await deleteItems(keys);
};
