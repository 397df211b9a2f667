import { DeleteCommand, GetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import {
  GATE_WAITER_PREFIX,
  gatePartition,
  gateWaiterKey,
  gateWaiterPrefix,
  TTL_ATTRIBUTE,
  waitingAccountKey,
} from '../table/keys.ts';
import { queryAll } from '../table/queries.ts';
import { type StoredItem, table, tableName } from '../table/table.ts';
import { writeItem, writeUnlessRefused } from '../table/transactions.ts';
import { type Instant, SECONDS_PER_DAY, toEpochSeconds, toInstant } from '../time.ts';
import type { WaitingAccount } from './gate-rules.ts';

/**
 * A request that waits at a gate. `taskToken` wakes its execution; tokens are in the order of `tokenOrder`. `weight` and
 * `starts` are the calls it makes at once and in all.
 */
const GateWaiter = z.object({
  requestId: z.string(),
  accountId: z.string(),
  createdAt: z.string(),
  taskToken: z.string(),
  tokenOrder: z.string(),
  weight: z.number(),
  starts: z.number(),
});
export type GateWaiter = z.infer<typeof GateWaiter>;

const StoredAccount = z.object({
  accountId: z.string(),
  touched: z.string(),
  servedAt: z.string(),
  headAt: z.string(),
});

/** An account that waits, from a stored item. Throws when the item is malformed. */
export const toWaitingAccount = (item: StoredItem): WaitingAccount => StoredAccount.parse(item);

/** A backstop: nobody waits for so long. */
const RETENTION_SECONDS = SECONDS_PER_DAY;
const ttlFrom = (now: Date): number => toEpochSeconds(toInstant(now)) + RETENTION_SECONDS;

/**
 * Access pattern 92: keeps a request that waits, or its newer task token. False when a newer one is stored: a function
 * that was held up must not replace it.
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

/** What names a waiting request. */
export type WaiterId = Pick<GateWaiter, 'requestId' | 'accountId' | 'createdAt'>;

/** Access pattern 93: a request that waits, strongly consistent; undefined when it does not. */
export const findWaiter = async (gateName: string, waiter: WaiterId): Promise<GateWaiter | undefined> => {
  const { Item } = await table.send(
    new GetCommand({ TableName: tableName(), Key: gateWaiterKey(gateName, waiter), ConsistentRead: true }),
  );
  return Item && GateWaiter.parse(Item);
};

/** Access pattern 94: the oldest waiting requests of an account, at most `limit`, strongly consistent. */
export const listWaiters = async (
  gateName: string,
  accountId: string,
  limit: number,
): Promise<GateWaiter[]> => {
  const { Items = [] } = await table.send(
    new QueryCommand({
      TableName: tableName(),
      ...waitersBeginning(gateName, gateWaiterPrefix(accountId)),
      ConsistentRead: true,
      Limit: limit,
    }),
  );
  return Items.map((item) => GateWaiter.parse(item));
};

/** Access pattern 95: every request that waits at a gate, by account and age, eventually consistent. */
export const listAllWaiters = async (gateName: string): Promise<GateWaiter[]> => {
  const waiters: GateWaiter[] = [];
  const query = {
    TableName: tableName(),
    ...waitersBeginning(gateName, GATE_WAITER_PREFIX),
    ConsistentRead: false,
  };
  for await (const item of queryAll(query)) waiters.push(GateWaiter.parse(item));
  return waiters;
};

const waitersBeginning = (gateName: string, prefix: string) => ({
  KeyConditionExpression: 'PK = :gate AND begins_with(SK, :waiters)',
  ExpressionAttributeValues: { ':gate': gatePartition(gateName), ':waiters': prefix },
});

/** Access pattern 96: removes a request that waits; with `tokenOrder`, only while it waits under that token. */
export const removeWaiter = (
  gateName: string,
  { tokenOrder, ...waiter }: WaiterId & Partial<Pick<GateWaiter, 'tokenOrder'>>,
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

/** Access pattern 97: notes that a request of an account begins to wait. An account that is new here counts as served now. */
export const touchAccount = async (
  gateName: string,
  { accountId, createdAt }: Pick<GateWaiter, 'accountId' | 'createdAt'>,
  stamp: string,
  now: Date,
): Promise<void> => {
  await writeItem(
    new UpdateCommand({
      TableName: tableName(),
      Key: waitingAccountKey(gateName, accountId),
      UpdateExpression:
        'SET accountId = :account, touched = :stamp, servedAt = if_not_exists(servedAt, :now), headAt = if_not_exists(headAt, :head), #ttl = :ttl',
      ExpressionAttributeNames: { '#ttl': TTL_ATTRIBUTE },
      ExpressionAttributeValues: {
        ':account': accountId,
        ':stamp': stamp,
        ':now': toInstant(now),
        ':head': createdAt,
        ':ttl': ttlFrom(now),
      },
    }),
  );
};

/**
 * Access pattern 98: notes that one of an account's requests was let in or gave its permit back, and how old its next
 * one is. Does nothing when none of its requests waits.
 */
export const noteServed = async (
  gateName: string,
  accountId: string,
  headAt: Instant | undefined,
  now: Date,
): Promise<void> => {
  await writeUnlessRefused(
    new UpdateCommand({
      TableName: tableName(),
      Key: waitingAccountKey(gateName, accountId),
      UpdateExpression: `SET servedAt = :now${headAt === undefined ? '' : ', headAt = :head'}`,
      ConditionExpression: 'attribute_exists(PK)',
      ExpressionAttributeValues: {
        ':now': toInstant(now),
        ...(headAt !== undefined && { ':head': headAt }),
      },
    }),
  );
};

/** Access pattern 99: removes an account of which no request waits. False when one began to since it was seen. */
export const removeWaitingAccount = (
  gateName: string,
  { accountId, touched }: Pick<WaitingAccount, 'accountId' | 'touched'>,
): Promise<boolean> =>
  writeUnlessRefused(
    new DeleteCommand({
      TableName: tableName(),
      Key: waitingAccountKey(gateName, accountId),
      ConditionExpression: 'touched = :seen',
      ExpressionAttributeValues: { ':seen': touched },
    }),
  );
