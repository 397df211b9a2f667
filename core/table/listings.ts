import { batchGetAll } from './batches.ts';
import type { ItemKey } from './keys.ts';
import { LISTING_INDEX } from './keys.ts';
import { queryAll } from './queries.ts';
import { type StoredItem, tableName } from './table.ts';

/** The listing index of a partition, as a query. */
export const listingQuery = (partition: string) => ({
  TableName: tableName(),
  IndexName: LISTING_INDEX.name,
  KeyConditionExpression: '#partition = :partition',
  ExpressionAttributeNames: { '#partition': LISTING_INDEX.partition },
  ExpressionAttributeValues: { ':partition': partition },
});

/** Everything listed in a partition, oldest first: its keys from the index, then the items themselves. */
export const listedItems = async <T>(partition: string, parse: (item: StoredItem) => T): Promise<T[]> => {
  const keys: ItemKey[] = [];
  for await (const { PK, SK } of queryAll(listingQuery(partition)))
    keys.push({ PK: String(PK), SK: String(SK) });
  const items = await batchGetAll(keys);
  return items.filter((item): item is StoredItem => item !== undefined).map(parse);
};
