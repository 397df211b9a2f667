import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { NotFoundError, UnauthorizedError } from '../errors.ts';
import { ACCOUNT_ID_PATTERN } from '../ids.ts';
import { apiKeyKey, apiKeyListing, apiKeyListingPartition } from '../table/keys.ts';
import { listedItems } from '../table/listings.ts';
import { type StoredItem, table, tableName } from '../table/table.ts';
import { toInstant } from '../time.ts';
import type { RequestLimits } from './accounts.ts';

/** What a key may do. DELETE and bulk-delete count as writing. */
export const SCOPES = [
  'generations:write',
  'generations:read',
  'end-users:write',
  'end-users:read',
  'balance:read',
  'models:read',
] as const;
export type Scope = (typeof SCOPES)[number];

/**
 * A key as stored: never the key itself, only its SHA-256 digest. The numbers are its token bucket:
 * `tat` is the time (epoch ms) at which the bucket is full again, `allowAt` the time from which the next
 * request is allowed (`tat` minus the burst's width), `intervalMs` what one request costs, and `spareMs` how
 * far `allowAt` lies in the past after one request on a full bucket.
 */
export const ApiKey = z.object({
  keyId: z.string(),
  accountId: z.string(),
  digest: z.string(),
  last4: z.string(),
  label: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  createdAt: z.string(),
  lastUsedAt: z.optional(z.string()),
  revokedAt: z.optional(z.string()),
  tat: z.optional(z.number()),
  allowAt: z.optional(z.number()),
  intervalMs: z.number(),
  spareMs: z.number(),
});
export type ApiKey = z.infer<typeof ApiKey>;

const toApiKey = (item: StoredItem): ApiKey => ApiKey.parse(item);

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 32 base-62 digits hold 190 bits. */
const SECRET_LENGTH = 32;
const KEY_TEXT = new RegExp(`^gsk_(${ACCOUNT_ID_PATTERN})_([0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{6})$`);

/** Six base-62 digits of the CRC-32 of what stands before them: a mistyped key costs no look-up. */
const checksum = (text: string): string => {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < 6; place++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
};

/** A key's text taken apart without any look-up. */
export interface ParsedKey {
  accountId: string;
  keyId: string;
  digest: string;
}

/** The parts of a key's text, or undefined when its form or checksum is wrong. */
export const parseKey = (key: string): ParsedKey | undefined => {
  const match = KEY_TEXT.exec(key);
  const accountId = match?.[1];
  if (accountId === undefined || checksum(key.slice(0, -6)) !== key.slice(-6)) return undefined;
  const digest = createHash('sha256').update(key).digest('hex');
  return { accountId, keyId: keyIdOf(digest), digest };
};

/** 128 bits of the digest name the key; whoever holds the key can compute it, nobody can go back. */
const keyIdOf = (digest: string): string => `key_${digest.slice(0, 32)}`;

const newKeyText = (accountId: string): string => {
  const secret = Array.from({ length: SECRET_LENGTH }, () => BASE62.charAt(randomInt(62))).join('');
  const body = `gsk_${accountId}_${secret}`;
  return body + checksum(body);
};

/** The token bucket's constants for an account's limits. */
export const bucketOf = ({
  requestsPerSecond,
  burst,
}: RequestLimits): Pick<ApiKey, 'intervalMs' | 'spareMs'> => {
  const intervalMs = 1000 / requestsPerSecond;
  return { intervalMs, spareMs: (burst - 2) * intervalMs };
};

/** Access pattern 8: a new key of an account. The text is returned this once and never stored. */
export const insertApiKey = async (
  accountId: string,
  options: { scopes: readonly Scope[]; label: string; limits: RequestLimits },
  now: Date,
): Promise<{ apiKey: ApiKey; text: string }> => {
  const text = newKeyText(accountId);
  const digest = createHash('sha256').update(text).digest('hex');
  const apiKey: ApiKey = {
    keyId: keyIdOf(digest),
    accountId,
    digest,
    last4: text.slice(-4),
    label: options.label,
    scopes: [...options.scopes],
    createdAt: toInstant(now),
    ...bucketOf(options.limits),
  };
  await table.send(
    new PutCommand({
      TableName: tableName(),
      Item: {
        ...apiKeyKey(apiKey.keyId),
        ...apiKeyListing(accountId, apiKey.createdAt, apiKey.keyId),
        ...apiKey,
      },
      ConditionExpression: 'attribute_not_exists(PK)',
    }),
  );
  return { apiKey, text };
};

/**
 * Access pattern 9: an account's keys, oldest first. For operators: reads the whole index, as `listAccounts`.
 */
export const listApiKeys = async (accountId: string): Promise<ApiKey[]> =>
  listedItems(apiKeyListingPartition(accountId), toApiKey);

/** Access pattern 10: gives every key of an account the bucket of these limits, full. */
export const setKeyLimits = async (accountId: string, limits: RequestLimits): Promise<void> => {
  const { intervalMs, spareMs } = bucketOf(limits);
  for (const { keyId } of await listApiKeys(accountId)) {
    await table.send(
      new UpdateCommand({
        TableName: tableName(),
        Key: apiKeyKey(keyId),
        UpdateExpression: 'SET intervalMs = :interval, spareMs = :spare REMOVE tat, allowAt',
        ConditionExpression: 'attribute_exists(PK)',
        ExpressionAttributeValues: { ':interval': intervalMs, ':spare': spareMs },
      }),
    );
  }
};

/** Access pattern 11: revokes a key for good; repeated, the first time stands. Throws `NotFoundError`. */
export const revokeApiKey = async (keyId: string, now: Date): Promise<ApiKey> => {
  try {
    const { Attributes } = await table.send(
      new UpdateCommand({
        TableName: tableName(),
        Key: apiKeyKey(keyId),
        UpdateExpression: 'SET revokedAt = if_not_exists(revokedAt, :now)',
        ConditionExpression: 'attribute_exists(PK)',
        ExpressionAttributeValues: { ':now': toInstant(now) },
        ReturnValues: 'ALL_NEW',
      }),
    );
    return toApiKey(Attributes ?? {});
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException)
      throw new NotFoundError(`There is no key ${keyId}.`);
    throw error;
  }
};

/** What became of counting one request against a key. */
export interface KeyUse {
  apiKey: ApiKey;
  /** Set when the bucket was empty: the request was not counted and may come again after this many seconds. */
  retryAfterSeconds: number | undefined;
}

const IDLE = 'attribute_not_exists(tat) OR tat < :now';
const BUSY = 'tat >= :now AND allowAt <= :now';
const UPDATES = {
  idle: {
    ConditionExpression: `digest = :digest AND attribute_not_exists(revokedAt) AND (${IDLE})`,
    UpdateExpression: 'SET tat = :now + intervalMs, allowAt = :now - spareMs, lastUsedAt = :at',
  },
  busy: {
    ConditionExpression: `digest = :digest AND attribute_not_exists(revokedAt) AND ${BUSY}`,
    UpdateExpression: 'SET tat = tat + intervalMs, allowAt = allowAt + intervalMs, lastUsedAt = :at',
  },
} as const;

/** When this process last saw each key's bucket full again: decides which form of the update to try first. */
const lastSeenTat = new Map<string, number>();
const MAX_REMEMBERED_KEYS = 10_000;

/**
 * Access pattern 12: looks a key up and counts one request against its bucket (GCRA), in one conditional
 * update. DynamoDB has no `max`, so the update has two forms, one for a bucket that has refilled and one for
 * a bucket in use; the form is guessed from what this process last saw, and a wrong guess costs a second
 * call. Throws `UnauthorizedError` for an unknown or revoked key.
 */
export const consumeApiKey = async ({ keyId, digest }: ParsedKey, now: Date): Promise<KeyUse> => {
  const nowMs = now.getTime();
  let form: keyof typeof UPDATES = (lastSeenTat.get(keyId) ?? 0) >= nowMs ? 'busy' : 'idle';
  let apiKey: ApiKey | undefined;
  for (let guess = 0; guess < MAX_GUESSES; guess++) {
    const use = await updateBucket({ keyId, digest }, now, form);
    apiKey = use.apiKey;
    const { tat = 0, allowAt = 0 } = apiKey;
    remember(keyId, tat);
    if (use.counted) return { apiKey, retryAfterSeconds: undefined };
    if (tat >= nowMs && allowAt > nowMs) {
      return { apiKey, retryAfterSeconds: Math.max(1, Math.ceil((allowAt - nowMs) / 1000)) };
    }
    form = tat >= nowMs ? 'busy' : 'idle';
  }
  if (!apiKey) throw new UnauthorizedError();
  return { apiKey, retryAfterSeconds: 1 };
};

/** A guess goes wrong twice only when other processes use the same key between two calls of this one. */
const MAX_GUESSES = 4;

/** One try of one form. `counted` is false when the form did not fit; the key is then as it is stored. */
const updateBucket = async (
  { keyId, digest }: Pick<ParsedKey, 'keyId' | 'digest'>,
  now: Date,
  form: keyof typeof UPDATES,
): Promise<{ apiKey: ApiKey; counted: boolean }> => {
  try {
    const { Attributes } = await table.send(
      new UpdateCommand({
        TableName: tableName(),
        Key: apiKeyKey(keyId),
        ...UPDATES[form],
        ExpressionAttributeValues: { ':digest': digest, ':now': now.getTime(), ':at': toInstant(now) },
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return { apiKey: toApiKey(Attributes ?? {}), counted: true };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    const apiKey = error.Item ? toApiKey(unmarshall(error.Item)) : undefined;
    if (apiKey?.digest !== digest || apiKey.revokedAt !== undefined) throw new UnauthorizedError();
    return { apiKey, counted: false };
  }
};

const remember = (keyId: string, tat: number): void => {
  if (lastSeenTat.size >= MAX_REMEMBERED_KEYS) lastSeenTat.clear();
  lastSeenTat.set(keyId, tat);
};
