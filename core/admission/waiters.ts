import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { readableItems } from '../observability.ts';
import {
  GATE_WAITER_PREFIX,
  gatePartition,
  gateWaiterKey,
  gateWaiterPrefix,
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
 * A request that waits at a gate. `taskToken` wakes its execution; tokens are in the order of `tokenOrder`. `weight` and
 * `starts` are the calls it makes at once and in all. `admittedMs` is set once it has a permit and is to be woken. `routes` are the names of
 * all routes that may take it, when its model has several.
 */
const GateWaiter = z.object({
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
export type GateWaiter = z.infer<typeof GateWaiter>;

/**
 * An account with requests that wait at a gate. `touched` changes whenever one of them begins to wait. `servedAt` is when one was last let in or
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
export const putWaiter = (gateName: string, waiter: GateWaiter, now: Date): Promise<boolean> =>
  writeUnlessRefused(
    new PutCommand({
      TableName: tableName(),
      Item: { ...gateWaiterKey(gateName, waiter), ...waiter, [TTL_ATTRIBUTE]: ttlFrom(now) },
      ConditionExpression: 'attribute_not_exists(tokenOrder) OR tokenOrder <= :order',
      ExpressionAttributeValues: { ':order': waiter.tokenOrder },
    }),
  );

/** Access pattern 69: notes on a waiter that it has a permit. Refused when it waits no more, waits under another token, or has one already. */
export const admitWrite = (gateName: string, waiter: GateWaiter, takenMs: number): TransactItem =>
  updateWrite(gateWaiterKey(gateName, waiter), {
    UpdateExpression: 'SET admittedMs = :taken',
    ConditionExpression: 'tokenOrder = :order AND attribute_not_exists(admittedMs)',
    ExpressionAttributeValues: { ':taken': takenMs, ':order': waiter.tokenOrder },
  });

/**
 * Access pattern 68: the oldest waiting request of an account that can be read, strongly consistent. `unreadable` when requests wait and
 * none of them can be read: they leave the queue when their time there ends.
 */
export const findOldestWaiter = async (
  gateName: string,
  accountId: string,
): Promise<GateWaiter | 'unreadable' | undefined> => {
  const query = partitionQuery(gatePartition(gateName), gateWaiterPrefix(accountId));
  let found: 'unreadable' | undefined;
  for await (const item of queryAll(query, 1)) {
    const [waiter] = readableWaiters([item]);
    if (waiter) return waiter;
    found = 'unreadable';
  }
  return found;
};

const readableWaiters = (items: readonly StoredItem[]): GateWaiter[] =>
  readableItems(items, (item) => GateWaiter.parse(item));

/** The first page of waiters: enough to find ten that can go elsewhere. */
const FIRST_PAGE = 50;

/**
 * Access pattern 68: every request that waits at a gate, by account and age, read as they are consumed, strongly consistent. Leaves out those
 * that cannot be read.
 */
export const eachWaiter = async function* (gateName: string): AsyncGenerator<GateWaiter> {
  const query = partitionQuery(gatePartition(gateName), GATE_WAITER_PREFIX);
  for await (const item of queryAll(query, FIRST_PAGE)) yield* readableWaiters([item]);
};

/** Access pattern 69: removes a request that waits; with `tokenOrder`, only while it waits under that token. */
export const removeWaiter = (
  gateName: string,
  {
    tokenOrder,
    ...waiter
  }: Pick<GateWaiter, 'requestId' | 'accountId' | 'createdAt'> & Partial<Pick<GateWaiter, 'tokenOrder'>>,
): Promise<boolean> =>
  writeUnlessRefused(
    new DeleteCommand({
      TableName: tableName(),
      Key: gateWaiterKey(gateName, waiter),
      ...(tokenOrder !== undefined && {
        ConditionExpression: 'tokenOrder = :order',
        ExpressionAttributeValues: { ':order': tokenOrder },
      }),
    }),
  );

/** Access pattern 67: notes that a request of an account begins to wait. An account that is new here counts as served now. */
export const touchAccount = async (
  gateName: string,
  accountId: string,
  stamp: string,
  now: Date,
): Promise<void> => {
  await writeItem(
    updateOf(waitingAccountKey(gateName, accountId), {
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

/** Access pattern 67: notes that an account's request was let in or gave its permit back. Does nothing when none of its requests waits. */
export const recordServed = async (gateName: string, accountId: string, now: Date): Promise<void> => {
  await writeUnlessRefused(
    updateOf(waitingAccountKey(gateName, accountId), {
      UpdateExpression: 'SET servedAt = :now',
      ConditionExpression: 'attribute_exists(PK)',
      ExpressionAttributeValues: { ':now': toInstant(now) },
    }),
  );
};

/** Access pattern 66: the accounts that wait at a gate, strongly consistent. Leaves out those that cannot be read. */
export const listWaitingAccounts = async (gateName: string): Promise<WaitingAccount[]> => {
  const items = await queryItems(partitionQuery(gatePartition(gateName), WAITING_ACCOUNT_PREFIX));
  return readableItems(items, (item) => WaitingAccount.parse(item));
};

/** Access pattern 67: removes an account without waiting requests. False when one began to wait since the account was read. */
export const removeWaitingAccount = (
  gateName: string,
  { accountId, touched }: WaitingAccount,
): Promise<boolean> =>
  writeUnlessRefused(
    new DeleteCommand({
      TableName: tableName(),
      Key: waitingAccountKey(gateName, accountId),
      ConditionExpression: 'touched = :seen',
      ExpressionAttributeValues: { ':seen': touched },
    }),
  );
