import { deleteItems } from '../table/batches.ts';
import { requestKey, requestPartition } from '../table/keys.ts';
import { queryAll } from '../table/queries.ts';
import { tableName } from '../table/table.ts';

/**
 * Access pattern 32: removes what is stored about a request beside itself: provider attempts, provider wait,
 * webhook attempts.
 */
export const removeTraces = async (requestId: string): Promise<void> => {
  const own = requestKey(requestId);
  const query = {
    TableName: tableName(),
    KeyConditionExpression: 'PK = :request',
    ExpressionAttributeValues: { ':request': requestPartition(requestId) },
    ProjectionExpression: 'PK, SK',
    ConsistentRead: true,
  };
  const keys: { PK: string; SK: string }[] = [];
  for await (const { PK, SK } of queryAll(query)) {
    if (SK !== own.SK) keys.push({ PK: String(PK), SK: String(SK) });
  }
  await deleteItems(keys);
};
