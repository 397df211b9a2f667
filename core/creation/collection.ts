import { randomUUID } from 'node:crypto';
import { PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { encodeTime } from 'ulid';
import * as z from 'zod/mini';
import { creationTimeOf, REQUEST_ID_PREFIX } from '../ids.ts';
import { readableItems } from '../readable.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { idempotencyKey, idempotencyPartition, TTL_ATTRIBUTE } from '../table/keys.ts';
import { table, tableName } from '../table/table.ts';
import { writeOnCondition, writeUnlessRefused } from '../table/transactions.ts';
import { addSeconds, SECONDS_PER_DAY, toEpochSeconds, toInstant } from '../time.ts';
import { type Idempotency, idempotencyOf } from './idempotency.ts';

/**
 * A call of a client that makes images and sends no idempotency key. Its retries are known by the API key and the body: equal calls are
 * alike, so each has an entry of its own, and a retry takes one of them.
 */
export interface LongCall {
  accountId: string;
  /** Stands for API key, route and body. */
  digest: string;
  /** How often the client has made this call before: 0 for a first call. */
  retry: number;
}

/** How long after its creation a request is collected by a retry: 10 min. */
const COLLECT_MS = 10 * 60_000;

/** A call that has written no request by then has died: its function runs for 300 s at most. */
const WRITING_MS = 300_000;

/** A retry looks at this many entries, the newest. */
const MOST_ENTRIES = 100;

/** The digest of a call. The order of a body's fields does not matter. */
export const digestOfCall = (keyId: string, route: string, body: unknown): string =>
  idempotencyOf('', route, { keyId, body }).fingerprint;

/**
 * The record by which a retry finds the request of its call. It is written in the request's transaction, over the entry of `beginCall`, and
 * never refused: the id is new.
 */
export const entryOf = ({ digest }: LongCall, requestId: string): Idempotency => ({
  keyDigest: `${digest}#${requestId}`,
  fingerprint: digest,
});

/**
 * Access pattern 130: notes that a call is about to write this request: a retry of the call waits for it. An entry that is kept until `now`
 * does not stand in the way of the request's own.
 */
export const beginCall = async (call: LongCall, requestId: string, now: Date): Promise<void> => {
  const { keyDigest, fingerprint } = entryOf(call, requestId);
  const keptUntil = toInstant(now);
  await writeUnlessRefused(
    new PutCommand({
      TableName: tableName(),
      Item: {
        ...idempotencyKey(call.accountId, keyDigest),
        ...{ fingerprint, requestId, keptUntil, isWriting: true },
        [TTL_ATTRIBUTE]: toEpochSeconds(addSeconds(keptUntil, SECONDS_PER_DAY)),
      },
      // The client repeats a write whose answer was lost.
      ConditionExpression: 'attribute_not_exists(PK)',
    }),
  );
};

/** Access pattern 131: notes that a call was refused after `beginCall`: its retry does not wait. */
export const endRefusedCall = async (call: LongCall, requestId: string): Promise<void> => {
  await writeUnlessRefused(
    new UpdateCommand({
      TableName: tableName(),
      Key: idempotencyKey(call.accountId, entryOf(call, requestId).keyDigest),
      UpdateExpression: 'REMOVE isWriting',
      ConditionExpression: 'attribute_exists(PK)',
    }),
  );
};

/**
 * An entry as stored. `isWriting`: its request is not written yet. `collected` is the number of the latest retry that took it, `takenBy` the id of that call. `handedBack`: that call
 * was answered before the request ended.
 */
const Entry = z.object({
  requestId: z.string(),
  isWriting: z._default(z.boolean(), false),
  collected: z._default(z.number(), 0),
  takenBy: z.optional(z.string()),
  handedBack: z._default(z.boolean(), false),
});
type Entry = z.infer<typeof Entry>;

/**
 * The newest entries of a call that its retry may take, strongly consistent: first those handed back, then those that the latest retry
 * took, then the oldest.
 */
const listEntries = async ({ accountId, digest, retry }: LongCall, now: Date): Promise<Entry[]> => {
  const sortOf = (end: string) => idempotencyKey(accountId, `${digest}#${REQUEST_ID_PREFIX.image}${end}`).SK;
  const { Items = [] } = await table.send(
    new QueryCommand({
      TableName: tableName(),
      KeyConditionExpression: 'PK = :account AND SK BETWEEN :oldest AND :newest',
      ExpressionAttributeValues: {
        ':account': idempotencyPartition(accountId),
        ':oldest': sortOf(encodeTime(now.getTime() - COLLECT_MS, 10)),
        ':newest': sortOf('~'),
      },
      ConsistentRead: true,
      ScanIndexForward: false,
      Limit: MOST_ENTRIES,
    }),
  );
  return readableItems(Items, (item) => Entry.parse(item))
    .filter(({ collected }) => collected < retry)
    .sort(
      (a, b) =>
        Number(b.handedBack) - Number(a.handedBack) ||
        b.collected - a.collected ||
        (a.requestId < b.requestId ? -1 : 1),
    );
};

/** Takes an entry for a retry. False when this or a later retry has taken it: the condition lets only one of two equal retries have it. */
const takeEntry = async ({ accountId, digest, retry }: LongCall, requestId: string): Promise<boolean> => {
  const own = randomUUID();
  const { done, item } = await writeOnCondition(
    new UpdateCommand({
      TableName: tableName(),
      Key: idempotencyKey(accountId, `${digest}#${requestId}`),
      UpdateExpression: 'SET collected = :retry, takenBy = :own REMOVE handedBack',
      ConditionExpression: 'attribute_exists(PK) AND (attribute_not_exists(collected) OR collected < :retry)',
      ExpressionAttributeValues: { ':retry': retry, ':own': own },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }),
  );
  // The client repeats an update whose answer was lost.
  return done || (item !== undefined && Entry.parse(item).takenBy === own);
};

/**
 * Access pattern 128: collects the request that an earlier attempt of this call created in the last 10 minutes. `being written` when an
 * attempt may still write one; undefined without any. A failed request is collected only
 * after a 408. Any other failure was told, and is refunded: the retry makes another request.
 */
export const collectRequest = async (
  call: LongCall,
  now: Date,
): Promise<StoredRequest | 'being written' | undefined> => {
  const entries = await listEntries(call, now);
  for (const { requestId, handedBack } of entries.filter(({ isWriting }) => !isWriting)) {
    if (!(await takeEntry(call, requestId))) continue;
    const request = await findRequest(requestId);
    if (request && (handedBack || request.status !== 'failed')) return request;
  }
  const writtenFrom = toInstant(new Date(now.getTime() - WRITING_MS));
  const isAwaited = entries.some((one) => one.isWriting && creationTimeOf(one.requestId) > writtenFrom);
  return isAwaited ? 'being written' : undefined;
};

/**
 * Access pattern 129: notes that a call is answered before its request has ended, so that its retry takes this one before others. False
 * when another call has taken the request, or it has no entry.
 */
export const handBack = ({ accountId, digest, retry }: LongCall, requestId: string): Promise<boolean> =>
  writeUnlessRefused(
    new UpdateCommand({
      TableName: tableName(),
      Key: idempotencyKey(accountId, `${digest}#${requestId}`),
      UpdateExpression: 'SET handedBack = :yes',
      ConditionExpression:
        'attribute_exists(PK) AND (attribute_not_exists(collected) OR collected <= :retry)',
      ExpressionAttributeValues: { ':yes': true, ':retry': retry },
    }),
  );
