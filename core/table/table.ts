import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
  type TransactWriteCommandInput,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { clientOptions } from '../aws-clients.ts';
import { requiredEnv } from '../environment.ts';
import { RateLimitedError } from '../errors.ts';
import { readable } from '../observability.ts';
import { type ItemKey, LISTING_INDEX } from './keys.ts';
import { waitForTable } from './retries.ts';

export const table = DynamoDBDocumentClient.from(new DynamoDBClient(clientOptions('table')), {
  marshallOptions: { removeUndefinedValues: true },
});

export const tableName = (): string => requiredEnv('TABLE_NAME');

/** An item as it is stored, keys included; entities parse it by their schema. */
export type StoredItem = Record<string, unknown>;

/** The item under a key, strongly consistent; undefined when there is none. */
export const getItem = async (Key: ItemKey): Promise<StoredItem | undefined> =>
  (await table.send(new GetCommand({ TableName: tableName(), Key, ConsistentRead: true }))).Item;

/**
 * The parts of an update that sets attributes, with placeholders of the same names, and removes undefined attributes. Pass at
 * least one attribute.
 */
export const setAll = (attributes: Record<string, unknown>, otherValues: Record<string, unknown> = {}) => {
  const names = Object.keys(attributes);
  const set = names.filter((name) => attributes[name] !== undefined);
  const removed = names.filter((name) => attributes[name] === undefined);
  const values = { ...Object.fromEntries(set.map((name) => [`:${name}`, attributes[name]])), ...otherValues };
  const sets = set.length > 0 ? `SET ${set.map((name) => `#${name} = :${name}`).join(', ')}` : '';
  const removes = removed.length > 0 ? `REMOVE ${removed.map((name) => `#${name}`).join(', ')}` : '';
  return {
    UpdateExpression: `${sets} ${removes}`.trim(),
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  };
};

/** The parts of an update beside its item. */
export type UpdateParts = Omit<UpdateCommandInput, 'TableName' | 'Key'>;

export const updateOf = (Key: ItemKey, parts: UpdateParts): UpdateCommand =>
  new UpdateCommand({ TableName: tableName(), Key, ...parts });

type Writes = Required<NonNullable<TransactWriteCommandInput['TransactItems']>[number]>;

/** `updateOf` as a part of a transaction. */
export const updateWrite = (Key: ItemKey, parts: Omit<Writes['Update'], 'TableName' | 'Key'>) => ({
  Update: { TableName: tableName(), Key, ...parts },
});

/** A put as a part of a transaction. */
export const putWrite = (Item: StoredItem, parts?: Omit<Writes['Put'], 'TableName' | 'Item'>) => ({
  Put: { TableName: tableName(), Item, ...parts },
});

/** A strongly consistent query of a partition: every item, or the items whose sort keys start with `beginning`. */
export const partitionQuery = (PK: string, beginning?: string) => ({
  TableName: tableName(),
  KeyConditionExpression: beginning === undefined ? 'PK = :PK' : 'PK = :PK AND begins_with(SK, :beginning)',
  ExpressionAttributeValues: { ':PK': PK, ...(beginning !== undefined && { ':beginning': beginning }) },
  ConsistentRead: true,
});

/** A strongly consistent query of a partition: the items with sort keys from `first` to `last`. */
export const rangeQuery = (PK: string, first: string, last: string) => ({
  TableName: tableName(),
  KeyConditionExpression: 'PK = :PK AND SK BETWEEN :first AND :last',
  ExpressionAttributeValues: { ':PK': PK, ':first': first, ':last': last },
  ConsistentRead: true,
});

/** The parts of a read that limit it to these attributes of an item. */
export const projectionOf = (names: readonly string[]) => ({
  ProjectionExpression: names.map((name) => `#${name}`).join(),
  ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
});

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
  const batches = inBatches(keys, MAX_BATCH_GET_KEYS);
  return (await Promise.all(batches.map((batch) => getBatch(batch, projection)))).flat();
};

const inBatches = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );

/**
 * The items under these keys as `parse` reads them, strongly consistent, in the keys' order. Leaves out absent ones, and those that cannot be
 * read.
 */
export const readItems = async <T>(
  keys: readonly ItemKey[],
  parse: (item: StoredItem) => T,
): Promise<T[]> => {
  const found = (await batchGet(keys)).filter((item) => item !== undefined);
  return readable(found, parse, ({ PK }) => String(PK));
};

const getBatch = async (
  keys: ItemKey[],
  projection: ReturnType<typeof projectionOf> | undefined,
): Promise<(StoredItem | undefined)[]> => {
  const found = new Map<string, StoredItem>();
  await untilProcessed(keys, async (Keys) => {
    const read = { Keys, ConsistentRead: true, ...projection };
    const answer = await table.send(new BatchGetCommand({ RequestItems: { [tableName()]: read } }));
    for (const item of answer.Responses?.[tableName()] ?? []) found.set(`${item.PK}|${item.SK}`, item);
    return answer.UnprocessedKeys?.[tableName()]?.Keys as ItemKey[] | undefined;
  });
  return keys.map((key) => found.get(`${key.PK}|${key.SK}`));
};

/** Deletes items by key, whether or not they exist. Throws `RateLimitedError` when the table stays too busy. */
export const deleteItems = async (keys: readonly ItemKey[]): Promise<void> => {
  for (const batch of inBatches(keys, MAX_BATCH_WRITE_ITEMS)) {
    const deletions = batch.map((Key) => ({ DeleteRequest: { Key } }));
    await untilProcessed(deletions, async (pending) => {
      const answer = await table.send(new BatchWriteCommand({ RequestItems: { [tableName()]: pending } }));
      return answer.UnprocessedItems?.[tableName()] as typeof pending | undefined;
    });
  }
};

/** Attempts of a batch that the table leaves unprocessed, before the caller gets 429. */
const MAX_ATTEMPTS = 60;

/** Sends a batch, and then again whatever `send` returns as unprocessed. */
const untilProcessed = async <T>(batch: T[], send: (pending: T[]) => Promise<T[] | undefined>) => {
  let pending = batch;
  for (let attempt = 0; pending.length > 0; attempt++) {
    if (attempt === MAX_ATTEMPTS) throw new RateLimitedError(1);
    if (attempt > 0) await waitForTable(attempt);
    pending = (await send(pending)) ?? [];
  }
};

/**
 * Every item of a query, in order, read as the items are consumed. The first call reads `expected` items if given, so that a
 * short list costs little; later calls read up to 1 MB each, which keeps calls few.
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

/** As `queryAll`, all at once. */
export const queryItems = async (query: QueryCommandInput): Promise<StoredItem[]> => {
  const items: StoredItem[] = [];
  for await (const item of queryAll(query)) items.push(item);
  return items;
};

/** The last items of a query, the last one first, at most `limit`: one call, of at most 1 MB. */
export const lastItems = async (query: QueryCommandInput, limit: number): Promise<StoredItem[]> => {
  const { Items = [] } = await table.send(
    new QueryCommand({ ...query, ScanIndexForward: false, Limit: limit }),
  );
  return Items;
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
/** The growth of each further call's items: few calls, without a call that reads far more than needed. */
const GROWTH = 4;
/** More than an answer of 1 MB holds. */
const WHOLE_ANSWER = 100_000;
/** Most calls for a page: 500 MB of an index, some 3.8 million entries of a list, in about 10 s. */
const MAX_CALLS = 500;

/**
 * The items that pass a query's filter, in order, without the first `skip` items, read as the items are consumed. Far items are
 * skipped by their count, which costs the same read units but transfers nothing. Throws when 500 calls do not suffice.
 */
export const queryFrom = async function* (
  query: QueryCommandInput,
  { skip, wanted, isSparse }: Part,
): AsyncGenerator<StoredItem> {
  let left = skip;
  let startKey: Record<string, unknown> | undefined;
  let calls = 0;
  const send = (options: Partial<QueryCommandInput>): Promise<QueryCommandOutput> => {
    calls += 1;
    if (calls > MAX_CALLS) throw new Error(`A page of a list takes more than ${MAX_CALLS} queries.`);
    return table.send(new QueryCommand({ ...query, ...options, ExclusiveStartKey: startKey }));
  };
  let examinedPerPass = 1;
  while (left > NEAR) {
    // As many as are left cannot lead too far, and are enough calls unless most items are dropped.
    const Limit = examinedPerPass <= 2 ? left : WHOLE_ANSWER;
    const { Count = 0, ScannedCount = 0, LastEvaluatedKey } = await send({ Select: 'COUNT', Limit });
    examinedPerPass = Math.round(ScannedCount / Math.max(Count, 1));
    // The part begins among these: they are read.
    if (Count > left) break;
    if (!LastEvaluatedKey) return;
    left -= Count;
    startKey = LastEvaluatedKey;
  }
  let limit = Math.max((left + wanted) * examinedPerPass, isSparse ? NEAR : 0);
  do {
    const page = await send({ Limit: limit });
    for (const item of page.Items ?? []) {
      if (left > 0) left -= 1;
      else yield item;
    }
    startKey = page.LastEvaluatedKey;
    limit = Math.min(GROWTH * limit, WHOLE_ANSWER);
  } while (startKey);
};

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
  return { keys: Items.map(keyIn), next: LastEvaluatedKey };
};

const keyIn = ({ PK, SK }: StoredItem): ItemKey => ({ PK: String(PK), SK: String(SK) });

/**
 * Every item listed in a partition, oldest first. Reads the keys from the index, eventually consistent, then
 * the items, strongly consistent, and leaves out those deleted since, and those that cannot be read.
 */
export const listedItems = async <T>(partition: string, parse: (item: StoredItem) => T): Promise<T[]> => {
  const listed = await queryItems(listingQuery(partition));
  return readItems(listed.map(keyIn), parse);
};
