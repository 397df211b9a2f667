import {
  type CancellationReason,
  DynamoDBClient,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  type DeleteCommand,
  DynamoDBDocumentClient,
  type PutCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  type UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { requiredEnv } from '../environment.ts';
import { RateLimitedError } from '../errors.ts';
import type { ItemKey } from './keys.ts';

/**
 * The table's client. A call that has not answered within 3 s is tried again: single-digit milliseconds are
 * the rule, so a longer wait is a lost packet, and an API function has 29 s in all.
 */
export const table = DynamoDBDocumentClient.from(
  new DynamoDBClient({ maxAttempts: 4, requestHandler: { connectionTimeout: 1000, requestTimeout: 3000 } }),
  { marshallOptions: { removeUndefinedValues: true } },
);

export const tableName = (): string => requiredEnv('TABLE_NAME');

export type StoredItem = Record<string, unknown>;
export type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Full jitter: base 25 ms, doubling, capped at 250 ms. For a table that is too busy. */
const backoffMilliseconds = (attempt: number): number => Math.random() * Math.min(250, 25 * 2 ** attempt);

/**
 * Full jitter over twice the time for which a transaction holds its items, some 8 ms. For items that are too
 * busy: who waits longer comes back with a balance that is old again, and loses for that.
 */
const conflictMilliseconds = (): number => Math.random() * 16;

/**
 * How often contended items are tried before the caller is asked to come back: some 2 s, well inside the 29 s of
 * an API call. Creations of one account are one after another, and of 40 at once the last may lose dozens of
 * times without anything being wrong. What this gives is in docs/bench-contention.md.
 */
const MAX_ATTEMPTS = 60;

/**
 * The items under these keys, strongly consistent, in the keys' order; undefined where there is none.
 * One round trip unless DynamoDB leaves keys unprocessed. At most 100 keys, all different.
 */
export const batchGet = async (keys: readonly ItemKey[]): Promise<(StoredItem | undefined)[]> => {
  const found = new Map<string, StoredItem>();
  let pending: ItemKey[] = [...keys];
  for (let attempt = 0; pending.length > 0; attempt++) {
    if (attempt === MAX_ATTEMPTS) throw new RateLimitedError(1);
    if (attempt > 0) await sleep(backoffMilliseconds(attempt));
    const answer = await table.send(
      new BatchGetCommand({ RequestItems: { [tableName()]: { Keys: pending, ConsistentRead: true } } }),
    );
    for (const item of answer.Responses?.[tableName()] ?? []) found.set(`${item.PK}|${item.SK}`, item);
    pending = (answer.UnprocessedKeys?.[tableName()]?.Keys ?? []) as ItemKey[];
  }
  return keys.map((key) => found.get(`${key.PK}|${key.SK}`));
};

/** Most keys DynamoDB takes in one BatchGetItem. */
const MAX_BATCH_GET_KEYS = 100;

/** The items under any number of different keys, as `batchGet`, 100 in a call and the calls at once. */
export const batchGetAll = async (keys: readonly ItemKey[]): Promise<(StoredItem | undefined)[]> => {
  const batches = Array.from({ length: Math.ceil(keys.length / MAX_BATCH_GET_KEYS) }, (_, index) =>
    keys.slice(index * MAX_BATCH_GET_KEYS, (index + 1) * MAX_BATCH_GET_KEYS),
  );
  return (await Promise.all(batches.map(batchGet))).flat();
};

/** How many items a filtered list asks for first: a few read units, and mostly enough for a page near its start. */
export const FILTERED_FIRST_LIMIT = 400;

/**
 * Every item a query finds, in its order. The first call asks for `expected` items where that is given, so
 * that a short list costs little; each further one takes what fits into 1 MB, so that calls stay few.
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

/** Most items DynamoDB takes in one BatchWriteItem. */
const MAX_BATCH_WRITE_ITEMS = 25;

/** Deletes items by key, whether or not they are there. Throws `RateLimitedError` when the table stays too busy. */
export const deleteItems = async (keys: readonly ItemKey[]): Promise<void> => {
  for (let start = 0; start < keys.length; start += MAX_BATCH_WRITE_ITEMS) {
    let pending = keys.slice(start, start + MAX_BATCH_WRITE_ITEMS).map((Key) => ({ DeleteRequest: { Key } }));
    for (let attempt = 0; pending.length > 0; attempt++) {
      if (attempt === MAX_ATTEMPTS) throw new RateLimitedError(1);
      if (attempt > 0) await sleep(backoffMilliseconds(attempt));
      const answer = await table.send(new BatchWriteCommand({ RequestItems: { [tableName()]: pending } }));
      pending = (answer.UnprocessedItems?.[tableName()] ?? []) as typeof pending;
    }
  }
};

/** The parts of an update that sets attributes, each under a placeholder of its own name. */
export const setAll = (attributes: Record<string, unknown>, otherValues: Record<string, unknown> = {}) => {
  const names = Object.keys(attributes);
  return {
    UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(names.map((name) => [`:${name}`, attributes[name]])),
      ...otherValues,
    },
  };
};

/** Why one item of a transaction refused it; `item` is the stored item when the condition asked for it. */
export interface Refusal {
  code: string;
  item: StoredItem | undefined;
}

const refusalOf = (reason: CancellationReason): Refusal => ({
  code: reason.Code ?? 'None',
  item: reason.Item ? unmarshall(reason.Item) : undefined,
});

/** Whether the condition of the item at `index` refused the transaction. */
export const refusedBy = (refusals: readonly Refusal[], index: number): boolean =>
  refusals[index]?.code === 'ConditionalCheckFailed';

/** The refusals a failed transaction carries; none for a conflict reported as a whole. Rethrows any other error. */
const refusalsOf = (error: unknown): Refusal[] => {
  if (error instanceof TransactionCanceledException) {
    const refusals = (error.CancellationReasons ?? []).map(refusalOf);
    if (refusals.every(({ code }) => RETRYABLE_REASONS.has(code))) return refusals;
  }
  if (error instanceof Error && RETRYABLE_ERRORS.has(error.name)) return [];
  throw error;
};

/** Reasons of a cancellation that a fresh plan or time heals; any other is a mistake of ours or of the set-up. */
const RETRYABLE_REASONS = new Set([
  'None',
  'ConditionalCheckFailed',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);
const RETRYABLE_ERRORS = new Set(['TransactionConflictException', 'TransactionInProgressException']);

/** Reasons that say that the table, and not the item, is too busy. */
const BUSY_TABLE = new Set(['ThrottlingError', 'ProvisionedThroughputExceeded']);

/**
 * Waits before a refused transaction is tried again. After a refused condition not at all: each one means that
 * somebody else got on, and what it returned is never newer than now.
 */
const pauseAfter = async (refusals: readonly Refusal[], attempt: number): Promise<void> => {
  if (refusals.some(({ code }) => BUSY_TABLE.has(code))) return sleep(backoffMilliseconds(attempt));
  if (!refusals.some(({ code }) => code === 'ConditionalCheckFailed')) await sleep(conflictMilliseconds());
};

/**
 * Writes all items or none. `plan` gives the items before each try, knowing the refusals of the try before,
 * so that it can build on the values they returned. It ends the transaction early by throwing, or by giving
 * no items, which means that what it wanted is in place already.
 *
 * The SDK retries neither conflicts nor cancellations. Here a refused condition goes back to `plan` at once,
 * anything else after a wait with full jitter. After 60 tries: `RateLimitedError`, as nothing was written and
 * the caller may come back.
 */
export const transact = async (
  plan: (refusals: readonly Refusal[]) => Promise<TransactItem[]> | TransactItem[],
): Promise<void> => {
  let refusals: readonly Refusal[] = [];
  let cause: unknown;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const items = await plan(refusals);
    if (items.length === 0) return;
    try {
      await table.send(new TransactWriteCommand({ TransactItems: items }));
      return;
    } catch (error) {
      refusals = refusalsOf(error);
      cause = error;
      await pauseAfter(refusals, attempt);
    }
  }
  throw new RateLimitedError(1, cause);
};

/**
 * Writes one item that transactions write too: one of them that is under way refuses the write, which the SDK
 * does not try again. Throws what the write itself throws, and `RateLimitedError` after 60 tries.
 */
export const writeItem = async (
  command: PutCommand | UpdateCommand | DeleteCommand,
): Promise<{ Attributes?: StoredItem | undefined }> => {
  let cause: unknown;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    try {
      // One of the three, which answer alike: the client's overloads take them one by one.
      return await table.send(command as UpdateCommand);
    } catch (error) {
      if (!(error instanceof Error) || !RETRYABLE_ERRORS.has(error.name)) throw error;
      cause = error;
      await sleep(conflictMilliseconds());
    }
  }
  throw new RateLimitedError(1, cause);
};
