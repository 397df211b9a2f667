import { QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import { type StoredItem, table } from './table.ts';

/** Items a filtered list reads in its first call: a few read units, usually enough for an early page. */
export const FILTERED_FIRST_LIMIT = 400;

/**
 * Every item of a query, in its order, read as they are consumed. The first call reads `expected` items if
 * given, so that a short list costs little; later calls read up to 1 MB each, so that there are few.
 */
export const queryAll = async function* (
  query: QueryCommandInput,
  expected?: number,
): AsyncGenerator<StoredItem> {
  let startKey: Record<string, unknown> | undefined;
  let limit = expected;
  do {
    const page = await table.send(new QueryCommand({ ...query, Limit: limit, ExclusiveStartKey: startKey }));
    yield* page.Items ?? [];
    startKey = page.LastEvaluatedKey;
    limit = undefined;
  } while (startKey);
};
