import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { readable } from '../readable.ts';
import { batchGet } from './batches.ts';
import { type ItemKey, LISTING_INDEX } from './keys.ts';
import { queryAll } from './queries.ts';
import { type StoredItem, table, tableName } from './table.ts';

/** A query of one partition of the listing index, in the order of creation. */
export const listingQuery = (partition: string) => ({
  TableName: tableName(),
  IndexName: LISTING_INDEX.name,
  KeyConditionExpression: '#partition = :partition',
  ExpressionAttributeNames: { '#partition': LISTING_INDEX.partition },
  ExpressionAttributeValues: { ':partition': partition },
});

/** The keys of a page of items listed in a partition, oldest first, and after which key the next page begins. Eventually consistent. */
export const listedKeys = async (
  partition: string,
  limit: number,
  after?: Record<string, string>,
): Promise<{ keys: ItemKey[]; next: StoredItem | undefined }> => {
  const { Items = [], LastEvaluatedKey } = await table.send(
    new QueryCommand({ ...listingQuery(partition), Limit: limit, ExclusiveStartKey: after }),
  );
  const keys = Items.map(({ PK, SK }) => ({ PK: String(PK), SK: String(SK) }));
  return { keys, next: LastEvaluatedKey };
};

/**
 * Every item listed in a partition, oldest first. Reads the keys from the index, eventually consistent, then
 * the items, strongly consistent, and leaves out those deleted since, and those that cannot be read.
 */
export const listedItems = async <T>(partition: string, parse: (item: StoredItem) => T): Promise<T[]> => {
  const keys: ItemKey[] = [];
  for await (const { PK, SK } of queryAll(listingQuery(partition)))
    keys.push({ PK: String(PK), SK: String(SK) });
  const items = await batchGet(keys);
  const found = items.filter((item): item is StoredItem => item !== undefined);
  return readable(found, parse, ({ PK }) => String(PK));
};
