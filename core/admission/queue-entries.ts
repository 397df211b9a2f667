import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { readableItems } from '../observability.ts';
import {
  QUEUE_ENTRY_PREFIX,
  queueEntryKey,
  queueEntryPrefix,
  routeLimitPartition,
  TTL_ATTRIBUTE,
  WAITING_ACCOUNT_PREFIX,
  waitingAccountKey,
} from '../table/keys.ts';
import {
  partitionQuery,
  queryAll,
  queryItems,
  type StoredItem,
  tableName,
  updateOf,
  updateWrite,
} from '../table/table.ts';
import { type TransactItem, writeItem, writeUnlessRefused } from '../table/transactions.ts';
import { SECONDS_PER_DAY, toEpochSeconds, toInstant } from '../time.ts';

/**
 * A request that queues at a route. `taskToken` wakes its execution; tokens are in the order of `tokenOrder`. `weight` and
 * `starts` are the calls it makes at once and in all. `admittedMs` is set once it has a permit and is to be woken. `routes` are
 * the names of all routes that accept the request, if its model has several routes.
 */
const QueueEntry = z.object({
  requestId: z.string(),
  accountId: z.string(),
  createdAt: z.string(),
  taskToken: z.string(),
  tokenOrder: z.string(),
  weight: z.number(),
  starts: z.number(),
  admittedMs: z.optional(z.number()),
  routes: z.optional(z.array(z.string())),
});
export type QueueEntry = z.infer<typeof QueueEntry>;

/**
 * An account with requests that queue at a route. `touched` changes whenever one of them begins to wait. `servedAt` is when one was last admitted or
 * gave its permit back, or else when the account began to wait.
 */
const WaitingAccount = z.object({
  accountId: z.string(),
  touched: z.string(),
  // Served next, and thereby written anew: otherwise the account would wait for ever.
  servedAt: z.catch(z.string(), ''),
});
export type WaitingAccount = z.infer<typeof WaitingAccount>;

/** A backstop: requests never wait this long. */
const RETENTION_SECONDS = SECONDS_PER_DAY;
const ttlFrom = (now: Date): number => toEpochSeconds(toInstant(now)) + RETENTION_SECONDS;

/**
 * Access pattern 69: stores a waiting request, or its newer task token. False when a newer one is stored: a delayed function must not
 * replace it.
 */
export const putQueueEntry = (route: string, entry: QueueEntry, now: Date): Promise<boolean> =>
  writeUnlessRefused(
    new PutCommand({
      TableName: tableName(),
      Item: { ...queueEntryKey(route, entry), ...entry, [TTL_ATTRIBUTE]: ttlFrom(now) },
      ConditionExpression: 'attribute_not_exists(tokenOrder) OR tokenOrder <= :order',
      ExpressionAttributeValues: { ':order': entry.tokenOrder },
    }),
  );

/** Access pattern 69: records on a queue entry that the request has a permit. Refused when it waits no more, waits under another token, or has one already. */
export const admitWrite = (route: string, entry: QueueEntry, takenMs: number): TransactItem =>
  updateWrite(queueEntryKey(route, entry), {
    UpdateExpression: 'SET admittedMs = :taken',
    ConditionExpression: 'tokenOrder = :order AND attribute_not_exists(admittedMs)',
    ExpressionAttributeValues: { ':taken': takenMs, ':order': entry.tokenOrder },
  });

/**
 * Access pattern 68: the oldest waiting request of an account that can be read, strongly consistent. `unreadable` when every
 * waiting request is unreadable: unreadable requests leave the queue at their queue deadline.
 */
export const findOldestQueueEntry = async (
  route: string,
  accountId: string,
): Promise<QueueEntry | 'unreadable' | undefined> => {
  const query = partitionQuery(routeLimitPartition(route), queueEntryPrefix(accountId));
  let found: 'unreadable' | undefined;
  for await (const item of queryAll(query, 1)) {
    const [entry] = readableEntries([item]);
    if (entry) return entry;
    found = 'unreadable';
  }
  return found;
};

const readableEntries = (items: readonly StoredItem[]): QueueEntry[] =>
  readableItems(items, (item) => QueueEntry.parse(item));

/** The first page of queued requests: enough to find ten that another route takes. */
const FIRST_PAGE = 50;

/**
 * Access pattern 68: every request that queues at a route, by account and age, read as they are consumed, strongly consistent. Leaves out those
 * that cannot be read.
 */
export const eachQueueEntry = async function* (route: string): AsyncGenerator<QueueEntry> {
  const query = partitionQuery(routeLimitPartition(route), QUEUE_ENTRY_PREFIX);
  for await (const item of queryAll(query, FIRST_PAGE)) yield* readableEntries([item]);
};

/** Access pattern 69: removes a request that waits; with `tokenOrder`, not if it waits under a newer token. */
export const removeQueueEntry = (
  route: string,
  {
    tokenOrder,
    ...entry
  }: Pick<QueueEntry, 'requestId' | 'accountId' | 'createdAt'> & Partial<Pick<QueueEntry, 'tokenOrder'>>,
): Promise<boolean> =>
  writeUnlessRefused(
    new DeleteCommand({
      TableName: tableName(),
      Key: queueEntryKey(route, entry),
      ...(tokenOrder !== undefined && {
        ConditionExpression: 'tokenOrder <= :order',
        ExpressionAttributeValues: { ':order': tokenOrder },
      }),
    }),
  );

/** Access pattern 67: records that a request of an account begins to wait. An account that is new at the route counts as served now. */
export const touchAccount = async (
  route: string,
  accountId: string,
  stamp: string,
  now: Date,
): Promise<void> => {
  await writeItem(
    updateOf(waitingAccountKey(route, accountId), {
      UpdateExpression:
        'SET accountId = :account, touched = :stamp, servedAt = if_not_exists(servedAt, :now), #ttl = :ttl',
      ExpressionAttributeNames: { '#ttl': TTL_ATTRIBUTE },
      ExpressionAttributeValues: {
        ':account': accountId,
        ':stamp': stamp,
        ':now': toInstant(now),
        ':ttl': ttlFrom(now),
      },
    }),
  );
};

/** Access pattern 67: records that an account's request was admitted or gave its permit back. Does nothing when none of its requests waits. */
export const recordServed = async (route: string, accountId: string, now: Date): Promise<void> => {
  await writeUnlessRefused(
    updateOf(waitingAccountKey(route, accountId), {
      UpdateExpression: 'SET servedAt = :now',
      ConditionExpression: 'attribute_exists(PK)',
      ExpressionAttributeValues: { ':now': toInstant(now) },
    }),
  );
};

/** Access pattern 66: the accounts with requests that queue at a route, strongly consistent. Leaves out those that cannot be read. */
export const listWaitingAccounts = async (route: string): Promise<WaitingAccount[]> => {
  const items = await queryItems(partitionQuery(routeLimitPartition(route), WAITING_ACCOUNT_PREFIX));
  return readableItems(items, (item) => WaitingAccount.parse(item));
};

/** Access pattern 67: removes an account without waiting requests. False when one began to wait since the account was read. */
export const removeWaitingAccount = (
  route: string,
  { accountId, touched }: WaitingAccount,
): Promise<boolean> =>
  writeUnlessRefused(
    new DeleteCommand({
      TableName: tableName(),
      Key: waitingAccountKey(route, accountId),
      ConditionExpression: 'touched = :seen',
      ExpressionAttributeValues: { ':seen': touched },
    }),
  );
