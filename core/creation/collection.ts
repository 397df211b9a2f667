import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { encodeTime } from 'ulid';
import * as z from 'zod/mini';
import { RateLimitedError } from '../errors.ts';
import { REQUEST_ID_PREFIX, type RequestKind } from '../ids.ts';
import { readableItems } from '../observability.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { findRequests, toRequest } from '../requests/requests.ts';
import {
  type ItemKey,
  idempotencyKey,
  idempotencyPartition,
  requestKey,
  TTL_ATTRIBUTE,
} from '../table/keys.ts';
import { batchGet, lastItems, rangeQuery, tableName, updateOf } from '../table/table.ts';
import { writeOnCondition } from '../table/transactions.ts';
import { addSeconds, SECONDS_PER_DAY, toEpochSeconds, toInstant } from '../time.ts';
import { type Idempotency, idempotencyOf } from './idempotency.ts';
import { ENTRY_STATES, inOrderOfTaking, mayTake } from './takeable-entries.ts';

/** A creation by an OpenAI client, which waits for the images in the same call. */
export interface LongCall {
  accountId: string;
  kind: RequestKind;
  /** The digest of the `Idempotency-Key` or, without a key, of API key, route and body. */
  digest: string;
  isKeyed: boolean;
  /** The client's count of retries: 0 for a first call. */
  retry: number;
  /** The id of this call among waiting calls. */
  waiter: string;
}

/** A request held by the call that waits for its images. `isGiven`: an earlier call was already answered with the images. */
export interface Held {
  key: ItemKey;
  requestId: string;
  waiter: string;
  retry: number;
  isGiven?: boolean;
}

/** The search for equal calls reads the newest 100 entries of the last hour. */
const LISTED_MS = 3_600_000;
const MOST_ENTRIES = 100;
/** Attempts to take an entry. An attempt fails when another call was faster. */
const MAX_ATTEMPTS = 10;

/** The digest of a call. The order of a body's fields does not matter. */
export const digestOfCall = (keyId: string, route: string, body: unknown): string =>
  idempotencyOf('', route, { keyId, body }).fingerprint;

/** An `Idempotency-Key` has one record. Equal calls without a key have an entry for each request. */
const entryDigest = ({ digest, isKeyed }: LongCall, requestId: string): string =>
  isKeyed ? digest : `${digest}#${requestId}`;
const entryKey = (call: LongCall, requestId: string): ItemKey =>
  idempotencyKey(call.accountId, entryDigest(call, requestId));

/** The request of a call, held by this call. */
export const heldBy = (call: LongCall, requestId: string): Held => ({
  key: entryKey(call, requestId),
  requestId,
  waiter: call.waiter,
  retry: call.retry,
});

/**
 * The idempotency record that a call's transaction writes with the request. With an `Idempotency-Key`, pass the key's
 * `fingerprint`. Without a key, the record replaces the entry of `openEntry`, and only while the call still holds the entry.
 */
export const idempotencyRecordOf = (
  call: LongCall,
  requestId: string,
  fingerprint = call.digest,
): Idempotency => ({
  keyDigest: entryDigest(call, requestId),
  fingerprint,
  waiter: call,
  isOpened: !call.isKeyed,
});

/**
 * Access pattern 55: writes the entry of a call before its request. The entry has no request id yet, so a retry of the client can
 * take the call over.
 */
export const openEntry = async (held: Held, now: Date): Promise<void> => {
  await move(held, 'open', now, { condition: 'attribute_not_exists(PK)' });
};

/**
 * Access pattern 55: removes an entry whose request is not written, and so prevents the write for good. Otherwise returns whether
 * the request is `written`, or another call has `taken` the entry.
 */
export const dropEntry = async ({
  key,
  waiter,
}: Pick<Held, 'key' | 'waiter'>): Promise<'dropped' | 'written' | 'taken'> => {
  const { done, item } = await writeOnCondition(
    new DeleteCommand({
      TableName: tableName(),
      Key: key,
      ConditionExpression: 'waiter = :waiter AND attribute_not_exists(requestId)',
      ExpressionAttributeValues: { ':waiter': waiter },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }),
  );
  return done ? 'dropped' : item ? 'written' : 'taken';
};

/** A stored entry: the request once written, the waiting call with its count of retries, and the time of the last change. */
const Entry = z.object({
  PK: z.string(),
  SK: z.string(),
  requestId: z.optional(z.string()),
  state: z.enum(ENTRY_STATES),
  waiter: z.string(),
  at: z.string(),
  retry: z.number(),
});
type Entry = z.infer<typeof Entry>;

/** The newest entries of equal calls, newest first, strongly consistent. */
const listEntries = async (call: LongCall, now: Date): Promise<Entry[]> => {
  const sortKey = (end: string) => entryKey(call, `${REQUEST_ID_PREFIX[call.kind]}${end}`).SK;
  const first = sortKey(encodeTime(Math.max(0, now.getTime() - LISTED_MS), 10));
  const query = rangeQuery(idempotencyPartition(call.accountId), first, sortKey('~'));
  return readableItems(await lastItems(query, MOST_ENTRIES), (item) => Entry.parse(item));
};

/** The entries that a call may take, the best first. */
const listTakeable = async (call: LongCall, now: Date): Promise<Entry[]> => {
  const entries = (await listEntries(call, now)).filter((entry) => mayTake(entry, call.retry, now));
  const read = entries.flatMap(({ state, requestId = [] }) => (state === 'open' ? [] : requestId));
  const { requests } = await findRequests(read);
  const found = new Map(requests.map((request) => [request.requestId, request]));
  return inOrderOfTaking(entries, call.retry, ({ requestId = '' }) => found.get(requestId), now);
};

/**
 * Access pattern 56: takes over the best request of equal calls: from now on only this call waits for the request. Undefined when
 * equal calls left no request. A call that has not written its request yet is stopped by the removal of its entry. Throws
 * `RateLimitedError` after ten losses against faster calls.
 */
export const takeRequest = async (call: LongCall, now: Date): Promise<Held | undefined> => {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const [best] = await listTakeable(call, now);
    if (!best) return undefined;
    const { PK, SK, requestId, state, waiter, at } = best;
    const key = { PK, SK };
    if (requestId === undefined) {
      if ((await dropEntry({ key, waiter })) === 'dropped') return undefined;
      continue;
    }
    const held = { key, requestId, waiter: call.waiter, retry: call.retry };
    const values = { ':seen': state, ':waiter': waiter };
    const isSeen = { condition: '#state = :seen AND waiter = :waiter', values };
    if (state !== 'answered') {
      if (await move(held, 'open', now, isSeen)) return held;
    }
    // Recorded for this retry, so that an equal retry gets other images. The answer keeps its time.
    else if (await move(held, 'answered', new Date(at), isSeen)) return { ...held, isGiven: true };
  }
  throw new RateLimitedError(1);
};

/** Access pattern 56: takes over the request that an `Idempotency-Key` named before. */
export const takeKeyed = async (call: LongCall, requestId: string, now: Date): Promise<Held> => {
  const held = heldBy(call, requestId);
  const isTaken = await move(held, 'open', now, {
    condition: 'attribute_exists(PK) AND #state <> :answered',
    values: { ':answered': 'answered' },
  });
  return { ...held, isGiven: !isTaken };
};

/**
 * Access pattern 56: the current state of a request, undefined when deleted, and whether this call still holds the request. One
 * read.
 */
export const readHeld = async ({
  key,
  requestId,
  waiter,
}: Held): Promise<{ isOwn: boolean; request: StoredRequest | undefined }> => {
  const [entry, item] = await batchGet([key, requestKey(requestId)]);
  return { isOwn: entry?.waiter === waiter, request: item && toRequest(item) };
};

/**
 * Access pattern 55: ends the wait of a call. `answered`: with the request's result; `released`: with 408, and an equal call may
 * collect the result. False when another call has taken the request over.
 */
export const endWait = (held: Held, state: 'answered' | 'released', now: Date): Promise<boolean> =>
  move(held, state, now, { condition: '#state = :open AND waiter = :own', values: { ':open': 'open' } });

/**
 * Moves an entry to a state, for a call. False when the condition refuses, unless the stored entry already has this state and
 * call: the SDK repeats an update whose answer was lost.
 */
const move = async (
  { key, waiter, retry }: Held,
  state: Entry['state'],
  now: Date,
  { condition, values = {} }: { condition: string; values?: Record<string, string> },
): Promise<boolean> => {
  const at = toInstant(now);
  const { done, item } = await writeOnCondition(
    updateOf(key, {
      UpdateExpression: 'SET #state = :state, waiter = :own, retry = :retry, #at = :at, #ttl = :ttl',
      ConditionExpression: condition,
      ExpressionAttributeNames: { '#state': 'state', '#at': 'at', '#ttl': TTL_ATTRIBUTE },
      ExpressionAttributeValues: {
        ...{ ':state': state, ':own': waiter, ':retry': retry, ':at': at, ...values },
        ':ttl': toEpochSeconds(addSeconds(at, SECONDS_PER_DAY)),
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }),
  );
  return done || (item?.waiter === waiter && item.state === state);
};
