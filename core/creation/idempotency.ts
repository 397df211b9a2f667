import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { idempotencyKey, TTL_ATTRIBUTE } from '../table/keys.ts';
import { putWrite, type StoredItem } from '../table/table.ts';
import type { TransactItem } from '../table/transactions.ts';
import { addSeconds, SECONDS_PER_DAY, toEpochSeconds, toInstant } from '../time.ts';

/** A caller's `Idempotency-Key` as a digest, and a fingerprint of the call's route and body. */
export interface Idempotency {
  keyDigest: string;
  fingerprint: string;
  /** The OpenAI call that waits for the request, and its count of retries. */
  waiter?: { waiter: string; retry: number };
  /** Whether the call already has an entry, which only this request may replace. */
  isOpened?: boolean;
}

/** Time for which a key is remembered: 24 h. */
const RECORD_SECONDS = SECONDS_PER_DAY;

/** The request that a key created. Holds ids and digests, nothing of the body. */
const IdempotencyRecord = z.object({ fingerprint: z.string(), requestId: z.string(), keptUntil: z.string() });
export type IdempotencyRecord = Pick<z.infer<typeof IdempotencyRecord>, 'fingerprint' | 'requestId'>;

/** 1 to 255 printable ASCII characters. */
const KEY = /^[\x20-\x7e]{1,255}$/;

/** Why an `Idempotency-Key` is refused, or undefined when it can be used. */
export const idempotencyKeyProblem = (key: string): string | undefined =>
  KEY.test(key) ? undefined : 'must be 1 to 255 printable characters';

/** The digest of a key, and the fingerprint of route and body. The order of a body's fields does not matter. */
export const idempotencyOf = (key: string, route: string, body: unknown): Idempotency => ({
  keyDigest: sha256(key),
  fingerprint: sha256(`${route}\n${canonicalJson(body)}`),
});

const sha256 = (text: string): string => hash('sha256', text);

const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_key, nested: unknown) =>
    nested !== null && typeof nested === 'object' && !Array.isArray(nested)
      ? Object.fromEntries(Object.entries(nested).sort(([a], [b]) => (a < b ? -1 : 1)))
      : nested,
  );

/**
 * Access pattern 53: the write of an idempotency record, which names the request of a key for 24 h. Refused, with the stored
 * item, while the key names another request.
 */
export const insertIdempotencyRecordWrite = (
  accountId: string,
  { keyDigest, fingerprint, waiter, isOpened = false }: Idempotency,
  requestId: string,
  now: Date,
): TransactItem => {
  const at = toInstant(now);
  const keptUntil = addSeconds(at, RECORD_SECONDS);
  return putWrite(
    {
      ...idempotencyKey(accountId, keyDigest),
      fingerprint,
      requestId,
      keptUntil,
      ...(waiter && { state: 'open', waiter: waiter.waiter, retry: waiter.retry, at }),
      [TTL_ATTRIBUTE]: toEpochSeconds(keptUntil),
    },
    {
      ...(isOpened
        ? {
            ConditionExpression: 'waiter = :waiter',
            ExpressionAttributeValues: { ':waiter': waiter?.waiter },
          }
        : {
            ConditionExpression: 'attribute_not_exists(PK) OR keptUntil <= :at',
            ExpressionAttributeValues: { ':at': at },
          }),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  );
};

/**
 * The idempotency record in a stored item; undefined without an item, after the record's expiry, and until its request is
 * written.
 */
export const toIdempotencyRecord = (
  item: StoredItem | undefined,
  now: Date,
): IdempotencyRecord | undefined => {
  if (item?.requestId === undefined) return undefined;
  const record = IdempotencyRecord.parse(item);
  return record.keptUntil > toInstant(now) ? record : undefined;
};

/** The id of the request created by the same key and body before; undefined when there is none. */
export const repeatedRequestId = (
  idempotency: Idempotency | undefined,
  record: IdempotencyRecord | undefined,
): string | undefined =>
  record !== undefined && record.fingerprint === idempotency?.fingerprint ? record.requestId : undefined;
