import { BatchGetCommand, BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { RateLimitedError } from '../errors.ts';
import { projectionOf } from './expressions.ts';
import type { ItemKey } from './keys.ts';
import { MAX_ATTEMPTS, waitForTable } from './retries.ts';
import { type StoredItem, table, tableName } from './table.ts';

/** Most keys in one BatchGetItem: DynamoDB limit. */
const MAX_BATCH_GET_KEYS = 100;
/** Most items in one BatchWriteItem: DynamoDB limit. */
const MAX_BATCH_WRITE_ITEMS = 25;

/**
 * The items under any number of different keys, strongly consistent, in the keys' order; undefined where there is none. Calls have 100 keys
 * each and run in parallel. Keys that DynamoDB leaves unprocessed are read again. `attributes` limits what is read of each item, which costs as much
 * but is faster to parse. Throws `RateLimitedError` when the table stays too busy.
 */
export const batchGet = async (
  keys: readonly ItemKey[],
  attributes?: readonly string[],
): Promise<(StoredItem | undefined)[]> => {
  const projection = attributes && projectionOf(['PK', 'SK', ...attributes]);
  const batches = Array.from({ length: Math.ceil(keys.length / MAX_BATCH_GET_KEYS) }, (_, index) =>
    keys.slice(index * MAX_BATCH_GET_KEYS, (index + 1) * MAX_BATCH_GET_KEYS),
  );
  return (await Promise.all(batches.map((batch) => getBatch(batch, projection)))).flat();
};

const getBatch = async (
  keys: ItemKey[],
  projection: ReturnType<typeof projectionOf> | undefined,
): Promise<(StoredItem | undefined)[]> => {
  const found = new Map<string, StoredItem>();
  let pending = keys;
  for (let attempt = 0; pending.length > 0; attempt++) {
    if (attempt === MAX_ATTEMPTS) throw new RateLimitedError(1);
    if (attempt > 0) await waitForTable(attempt);
    const read = { Keys: pending, ConsistentRead: true, ...projection };
    const answer = await table.send(new BatchGetCommand({ RequestItems: { [tableName()]: read } }));
    for (const item of answer.Responses?.[tableName()] ?? []) found.set(`${item.PK}|${item.SK}`, item);
    pending = (answer.UnprocessedKeys?.[tableName()]?.Keys ?? []) as ItemKey[];
  }
  return keys.map((key) => found.get(`${key.PK}|${key.SK}`));
};

/** Deletes items by key, whether or not they exist. Throws `RateLimitedError` when the table stays too busy. */
export const deleteItems = async (keys: readonly ItemKey[]): Promise<void> => {
  for (let start = 0; start < keys.length; start += MAX_BATCH_WRITE_ITEMS) {
    let pending = keys.slice(start, start + MAX_BATCH_WRITE_ITEMS).map((Key) => ({ DeleteRequest: { Key } }));
    for (let attempt = 0; pending.length > 0; attempt++) {
      if (attempt === MAX_ATTEMPTS) throw new RateLimitedError(1);
      if (attempt > 0) await waitForTable(attempt);
      const answer = await table.send(new BatchWriteCommand({ RequestItems: { [tableName()]: pending } }));
      pending = (answer.UnprocessedItems?.[tableName()] ?? []) as typeof pending;
    }
  }
};
