import { UnauthorizedError } from '../errors.ts';
import { apiKeyKey } from '../table/keys.ts';
import { updateOf } from '../table/table.ts';
import { writeOnCondition } from '../table/transactions.ts';
import { latestEndMs, toInstant } from '../time.ts';
import { type ApiKey, type ParsedKey, toApiKey } from './api-keys.ts';

/** A key that was looked up, and whether the request was counted against its bucket. */
export interface KeyUse {
  apiKey: ApiKey;
  /** Seconds until a repetition; set when the bucket was empty and the request was not counted. */
  retryAfterSeconds: number | undefined;
}

/**
 * DynamoDB has no `max`, so the update has three forms: for a refilled bucket, for a bucket in use, and for a bucket filled by a
 * clock far ahead. The last counts as refilled. Neither names the digest or the revocation: IAM lets a role that may name an
 * attribute in a condition write it too.
 */
const REFILLED = 'SET tat = :now + intervalMs, allowAt = :now - spareMs, lastUsedAt = :at';
const UPDATES = {
  idle: {
    ConditionExpression: 'attribute_exists(PK) AND (attribute_not_exists(tat) OR tat < :now)',
    UpdateExpression: REFILLED,
  },
  ahead: { ConditionExpression: 'tat > :latest', UpdateExpression: REFILLED },
  busy: {
    ConditionExpression: 'tat >= :now AND allowAt <= :now',
    UpdateExpression: 'SET tat = tat + intervalMs, allowAt = allowAt + intervalMs, lastUsedAt = :at',
  },
} as const;

/** The last `tat` this process saw for each key: predicts the form of the update. */
const lastSeenTat = new Map<string, number>();
const MAX_REMEMBERED_KEYS = 10_000;

/** A second wrong guess means that another process used the key between two calls of this process. */
const MAX_GUESSES = 4;

/**
 * Access pattern 12: looks up a key and counts a request against the key's bucket (GCRA), in one conditional update. The form of
 * the update is a guess from the state that this process last saw; a wrong guess costs a second call. A late call is judged by
 * the time of its arrival, like the calls that overtook it. Throws `UnauthorizedError` for an unknown or revoked key. The use of
 * a revoked key is counted, too.
 */
export const consumeApiKey = async (
  { keyId, digest }: ParsedKey,
  now: Date,
  elapsedMs: () => number = stopwatch(),
): Promise<KeyUse> => {
  let nowMs = now.getTime();
  let form: keyof typeof UPDATES = (lastSeenTat.get(keyId) ?? 0) >= nowMs ? 'busy' : 'idle';
  let apiKey: ApiKey | undefined;
  let latestMs = 0;
  for (let guess = 0; guess < MAX_GUESSES; guess++) {
    const use = await updateBucket({ keyId, digest }, { now: new Date(nowMs), latestMs }, form);
    apiKey = use.apiKey;
    const { tat = 0, allowAt = 0 } = apiKey;
    remember(keyId, tat);
    if (use.counted) return { apiKey, retryAfterSeconds: undefined };
    latestMs = latestEndMs(now, refillMsOf(apiKey));
    if (allowAt > nowMs && tat <= latestMs) {
      const arrivedMs = now.getTime() + elapsedMs();
      const waitMs = Math.min(allowAt - arrivedMs, refillMsOf(apiKey));
      if (waitMs > 0) return { apiKey, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
      nowMs = arrivedMs;
    }
    if (tat > latestMs) form = 'ahead';
    else form = tat >= nowMs ? 'busy' : 'idle';
  }
  if (!apiKey) throw new UnauthorizedError();
  return { apiKey, retryAfterSeconds: 1 };
};

/** The time in which an empty bucket fills. */
const refillMsOf = ({ intervalMs, spareMs }: ApiKey): number => 2 * intervalMs + spareMs;

/** Milliseconds since this call. */
const stopwatch = (): (() => number) => {
  const startedAtMs = Date.now();
  return () => Date.now() - startedAtMs;
};

/** An attempt with one form of the update. When the form did not fit, `counted` is false and the key is as stored. */
const updateBucket = async (
  { keyId, digest }: Pick<ParsedKey, 'keyId' | 'digest'>,
  { now, latestMs }: { now: Date; latestMs: number },
  form: keyof typeof UPDATES,
): Promise<{ apiKey: ApiKey; counted: boolean }> => {
  const { done: counted, item } = await writeOnCondition(
    updateOf(apiKeyKey(keyId), {
      ...UPDATES[form],
      ExpressionAttributeValues: {
        ':now': now.getTime(),
        ':at': toInstant(now),
        ...(form === 'ahead' && { ':latest': latestMs }),
      },
      ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }),
  );
  const apiKey = item && toApiKey(item);
  if (apiKey?.digest !== digest || apiKey.revokedAt !== undefined) throw new UnauthorizedError();
  return { apiKey, counted };
};

const remember = (keyId: string, tat: number): void => {
  if (lastSeenTat.size >= MAX_REMEMBERED_KEYS) lastSeenTat.clear();
  lastSeenTat.set(keyId, tat);
};
