import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { idempotencyKey, TTL_ATTRIBUTE } from '../table/keys.ts';
import { type StoredItem, tableName } from '../table/table.ts';
import type { TransactItem } from '../table/transactions.ts';
import { addSeconds, SECONDS_PER_DAY, toEpochSeconds, toInstant } from '../time.ts';

/** What a caller named a creation with: a digest of the key, and a fingerprint that tells one body from another. */
export interface Idempotency {
  keyDigest: string;
  fingerprint: string;
}

/** How long a key is kept. */
const KEPT_SECONDS = SECONDS_PER_DAY;

/** What a key led to, as stored: ids and digests, nothing of the body. */
const Kept = z.object({ fingerprint: z.string(), requestId: z.string(), keptUntil: z.string() });

/** 1 to 255 printable ASCII characters. */
const KEY = /^[\x20-\x7e]{1,255}$/;

/** Why an `Idempotency-Key` is refused, or undefined when it can be used. */
export const idempotencyKeyProblem = (key: string): string | undefined =>
  KEY.test(key) ? undefined : 'must be 1 to 255 printable characters';

/** What names a creation: bodies that differ in the order of their fields only are the same. */
export const idempotencyOf = (key: string, route: string, body: unknown): Idempotency => ({
  keyDigest: sha256(key),
  fingerprint: sha256(`${route}\n${canonicalJson(body)}`),
});

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_key, nested: unknown) =>
    nested !== null && typeof nested === 'object' && !Array.isArray(nested)
      ? Object.fromEntries(Object.entries(nested).sort(([a], [b]) => (a < b ? -1 : 1)))
      : nested,
  );

/**
 * Access pattern 61: keeps what a key led to for 24 h. Refused, with the stored item, while it is kept for
 * another request.
 */
export const keepKeyWrite = (
  accountId: string,
  { keyDigest, fingerprint }: Idempotency,
  requestId: string,
  now: Date,
): TransactItem => {
  const keptUntil = addSeconds(toInstant(now), KEPT_SECONDS);
  return {
    Put: {
      TableName: tableName(),
      Item: {
        ...idempotencyKey(accountId, keyDigest),
        ...{ fingerprint, requestId, keptUntil },
        [TTL_ATTRIBUTE]: toEpochSeconds(keptUntil),
      },
      ConditionExpression: 'attribute_not_exists(PK) OR keptUntil <= :now',
      ExpressionAttributeValues: { ':now': toInstant(now) },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  };
};

/** The request a key led to, while it is kept. */
export const keptRequest = (
  item: StoredItem | undefined,
  now: Date,
): { requestId: string; fingerprint: string } | undefined => {
  if (!item) return undefined;
  const kept = Kept.parse(item);
  return kept.keptUntil > toInstant(now) ? kept : undefined;
};
