import { QueryCommand, type QueryCommandInput, type QueryCommandOutput } from '@aws-sdk/lib-dynamodb';
import { type StoredItem, table } from './table.ts';

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

/** The part of a filtered query that a page needs. */
export interface Part {
  /** Number of items to leave out at the beginning. */
  skip: number;
  /** Number of items to read after those, about. */
  wanted: number;
  /** Whether the filter may drop most items. */
  isSparse: boolean;
}

/** Up to this many items are skipped by reading them. A sparse query reads as many at first: 7 read units. */
const NEAR = 400;
/** How many times as many items each further call reads: few calls, and none reads far more than is needed. */
const GROWTH = 4;
/** More than an answer of 1 MB holds. */
const WHOLE_ANSWER = 100_000;
/** Most calls for a page: 500 MB of an index, some 3.8 million entries of a list, in about 10 s. */
const MAX_CALLS = 500;

/**
 * The items of a query that pass its filter, in its order, without the first `skip`, read as they are consumed. Far items
 * are skipped by their count, which costs the same read units but transfers nothing. Throws when 500 calls do not suffice.
 */
export const queryFrom = async function* (
  query: QueryCommandInput,
  { skip, wanted, isSparse }: Part,
): AsyncGenerator<StoredItem> {
  const send = limitCalls(query);
  let left = skip;
  let startKey: Record<string, unknown> | undefined;
  let examinedPerPass = 1;
  while (left > NEAR) {
    // As many as are left cannot lead too far, and are enough calls unless most items are dropped.
    const Limit = examinedPerPass <= 2 ? left : WHOLE_ANSWER;
    const counted = await send({ Select: 'COUNT', Limit, ExclusiveStartKey: startKey });
    const { Count = 0, ScannedCount = 0, LastEvaluatedKey } = counted;
    examinedPerPass = Math.round(ScannedCount / Math.max(Count, 1));
    // The part begins among these: they are read.
    if (Count > left) break;
    if (!LastEvaluatedKey) return;
    left -= Count;
    startKey = LastEvaluatedKey;
  }
  let limit = Math.max((left + wanted) * examinedPerPass, isSparse ? NEAR : 0);
  do {
    const page: QueryCommandOutput = await send({ Limit: limit, ExclusiveStartKey: startKey });
    for (const item of page.Items ?? []) {
      if (left > 0) left -= 1;
      else yield item;
    }
    startKey = page.LastEvaluatedKey;
    limit = Math.min(GROWTH * limit, WHOLE_ANSWER);
  } while (startKey);
};

/** Sends the query with other options, `MAX_CALLS` times at most. */
const limitCalls = (query: QueryCommandInput) => {
  let calls = 0;
  return (options: Partial<QueryCommandInput>): Promise<QueryCommandOutput> => {
    calls += 1;
    if (calls > MAX_CALLS) throw new Error(`A page of a list takes more than ${MAX_CALLS} queries.`);
    return table.send(new QueryCommand({ ...query, ...options }));
  };
};
