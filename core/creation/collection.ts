import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { encodeTime } from 'ulid';
import * as z from 'zod/mini';
import { creationTimeOf, REQUEST_ID_PREFIX } from '../ids.ts';
import { readableItems } from '../observability.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { idempotencyKey, idempotencyPartition, TTL_ATTRIBUTE } from '../table/keys.ts';
import { getItem, lastItems, rangeQuery, tableName, updateOf } from '../table/table.ts';
import { writeOnCondition, writeUnlessRefused } from '../table/transactions.ts';
import { addSeconds, SECONDS_PER_DAY, toEpochSeconds, toInstant } from '../time.ts';
import { type Idempotency, idempotencyOf } from './idempotency.ts';

/**
 * An attempt of a call that makes images and sends no idempotency key. Its retries are known by the API key and the body: equal calls are
 * alike, so each has an entry of its own, and a retry takes one of them.
 */
export interface LongCall {
  accountId: string;
  /** Stands for API key, route and body. */
  digest: string;
  /** How often the client has made this call before: 0 for a first call. */
  retry: number;
  /** The id of this attempt. */
  attempt: string;
}

/** How long after its creation a request is collected by a retry: 10 min. */
const COLLECT_MS = 10 * 60_000;

/** A call that has written no request by then counts as dead, and its entry refuses the request. */
const WRITING_MS = 30_000;

/** A retry looks at this many entries, the newest. */
const MOST_ENTRIES = 100;

/** The digest of a call. The order of a body's fields does not matter. */
export const digestOfCall = (keyId: string, route: string, body: unknown): string =>
  idempotencyOf('', route, { keyId, body }).fingerprint;

const keyOf = ({ accountId, digest }: LongCall, requestId: string) =>
  idempotencyKey(accountId, `${digest}#${requestId}`);

/**
 * The record by which a retry finds the request of its call. It is written in the request's transaction, over the entry of `beginCall`,
 * unless the call was given up.
 */
export const entryOf = ({ digest }: LongCall, requestId: string): Idempotency => ({
  keyDigest: `${digest}#${requestId}`,
  fingerprint: digest,
});

/**
 * Access pattern 55: notes that a call is about to write this request: a retry of the call waits for it. An entry that is kept until `now`
 * does not stand in the way of the request's own.
 */
export const beginCall = async (call: LongCall, requestId: string, now: Date): Promise<void> => {
  const keptUntil = toInstant(now);
  await writeUnlessRefused(
    new PutCommand({
      TableName: tableName(),
      Item: {
        ...keyOf(call, requestId),
        ...{ fingerprint: call.digest, requestId, keptUntil, isWriting: true },
        [TTL_ATTRIBUTE]: toEpochSeconds(addSeconds(keptUntil, SECONDS_PER_DAY)),
      },
      // The client repeats a write whose answer was lost.
      ConditionExpression: 'attribute_not_exists(PK)',
    }),
  );
};

/**
 * Access pattern 55: gives a call up that has written no request: a retry does not wait for it, and its transaction, should it still come,
 * finds the record of another request. False when it has written, or was given up.
 */
export const giveUpCall = (call: LongCall, requestId: string, now: Date): Promise<boolean> =>
  writeUnlessRefused(
    updateOf(keyOf(call, requestId), {
      UpdateExpression: 'SET requestId = :none, keptUntil = :later REMOVE isWriting',
      ConditionExpression: 'isWriting = :yes',
      ExpressionAttributeValues: {
        ':yes': true,
        ':none': 'none',
        ':later': addSeconds(toInstant(now), SECONDS_PER_DAY),
      },
    }),
  );

/**
 * An entry as stored. `isWriting`: its request is not written yet. `takenBy` is the id of the latest attempt that took it, `collected` how
 * often its client had made the call before. `handedBack`: that attempt was answered before the request ended.
 */
const Entry = z.object({
  requestId: z.string(),
  isWriting: z._default(z.boolean(), false),
  collected: z._default(z.number(), 0),
  takenBy: z.optional(z.string()),
  handedBack: z._default(z.boolean(), false),
});
type Entry = z.infer<typeof Entry>;

/** The newest entries of a call's last 10 min, newest first, strongly consistent. */
const listEntries = async (call: LongCall, now: Date): Promise<Entry[]> => {
  const keyAt = (end: string) => keyOf(call, `${REQUEST_ID_PREFIX.image}${end}`).SK;
  const first = keyAt(encodeTime(now.getTime() - COLLECT_MS, 10));
  const query = rangeQuery(idempotencyPartition(call.accountId), first, keyAt('~'));
  return readableItems(await lastItems(query, MOST_ENTRIES), (item) => Entry.parse(item));
};

/**
 * Takes an entry for an attempt. False when an attempt of this or a later number has taken it: the condition lets only one of two equal
 * retries have it.
 */
const takeEntry = async (call: LongCall, requestId: string): Promise<boolean> => {
  const { done, item } = await writeOnCondition(
    updateOf(keyOf(call, requestId), {
      UpdateExpression: 'SET collected = :retry, takenBy = :own REMOVE handedBack',
      ConditionExpression: 'attribute_exists(PK) AND (attribute_not_exists(takenBy) OR collected < :retry)',
      ExpressionAttributeValues: { ':retry': call.retry, ':own': call.attempt },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }),
  );
  // The client repeats an update whose answer was lost.
  return done || (item !== undefined && Entry.parse(item).takenBy === call.attempt);
};

/** Takes the first of these entries that it can, and that has something to collect: a failed request only after a 408. */
const takeFirst = async (call: LongCall, entries: readonly Entry[]): Promise<StoredRequest | undefined> => {
  for (const { requestId, handedBack } of entries) {
    if (!(await takeEntry(call, requestId))) continue;
    const request = await findRequest(requestId);
    if (request && (handedBack || request.status !== 'failed')) return request;
  }
  return undefined;
};

/**
 * Access pattern 56: collects the request that an earlier attempt of this call created in the last 10 minutes. `being written` when an
 * attempt may still write one; undefined without any. Of several it takes first one handed back, then one that the latest retry took, then the
 * newest. A failed request is collected only after a 408. Any other failure was told, and is refunded: the retry makes another request.
 */
export const collectRequest = async (
  call: LongCall,
  now: Date,
): Promise<StoredRequest | 'being written' | undefined> => {
  const entries = await listEntries(call, now);
  const written = entries.filter(({ isWriting }) => !isWriting);
  const takeable = written
    .filter(({ takenBy, collected }) => takenBy === undefined || collected < call.retry)
    .sort((a, b) => Number(b.handedBack) - Number(a.handedBack) || b.collected - a.collected);
  const request = await takeFirst(call, takeable);
  if (request) return request;
  const writtenFrom = now.getTime() - WRITING_MS;
  for (const { requestId } of entries.filter(({ isWriting }) => isWriting)) {
    const isDead = Date.parse(creationTimeOf(requestId)) <= writtenFrom;
    if (!isDead || !(await giveUpCall(call, requestId, now))) return 'being written';
  }
  return undefined;
};

/**
 * Access pattern 56: another request of equal calls, when the retry of one of them has taken this call's: so each request is answered. Undefined when this
 * call still has its own, or no other is left.
 */
export const requestInstead = async (
  call: LongCall,
  requestId: string,
  now: Date,
): Promise<StoredRequest | undefined> => {
  const own = await getItem(keyOf(call, requestId));
  if (own?.takenBy === undefined || own.takenBy === call.attempt) return undefined;
  const untaken = (await listEntries(call, now)).filter(
    ({ isWriting, takenBy, handedBack }) => !isWriting && takenBy === undefined && !handedBack,
  );
  // As a first call, so that any retry may take it again.
  return takeFirst({ ...call, retry: 0 }, untaken);
};

/**
 * Access pattern 55: notes that a call is answered before its request has ended, so that its retry takes this one before others. False
 * when another attempt has taken the request, or it has no entry.
 */
export const handBack = (call: LongCall, requestId: string): Promise<boolean> =>
  writeUnlessRefused(
    updateOf(keyOf(call, requestId), {
      UpdateExpression: 'SET handedBack = :yes',
      ConditionExpression: 'attribute_exists(PK) AND (attribute_not_exists(takenBy) OR takenBy = :own)',
      ExpressionAttributeValues: { ':yes': true, ':own': call.attempt },
    }),
  );
