import { batchGetAll } from './batches.ts';
import { type ItemKey, LISTING_INDEX } from './keys.ts';
import { queryAll } from './queries.ts';
import { type StoredItem, tableName } from './table.ts';

/** A query of one partition of the listing index, in the order of creation. */
export const listingQuery = (partition: string) => ({
  TableName: tableName(),
  IndexName: LISTING_INDEX.name,
  KeyConditionExpression: '#partition = :partition',
  ExpressionAttributeNames: { '#partition': LISTING_INDEX.partition },
  ExpressionAttributeValues: { ':partition': partition },
});

/**
 * Every item listed in a partition, oldest first. Reads the keys from the index, eventually consistent, then
 * the items, strongly consistent, and leaves out those deleted since.
 */
export const listedItems = async <T>(partition: string, parse: (item: StoredItem) => T): Promise<T[]> => {
  const keys: ItemKey[] = [];
  for await (const { PK, SK } of queryAll(listingQuery(partition)))
    keys.push({ PK: String(PK), SK: String(SK) });
  const items = await batchGetAll(keys);
  return items.filter((item): item is StoredItem => item !== undefined).map(parse);
};
