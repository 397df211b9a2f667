import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import * as z from 'zod/mini';
import { NotFoundError } from '../errors.ts';
import { ACCOUNT_ID_PATTERN } from '../ids.ts';
import { apiKeyKey, apiKeyListing, apiKeyListingPartition } from '../table/keys.ts';
import { insertNew, updateExisting } from '../table/outcomes.ts';
import { getItem, listedItems, type StoredItem, setAll, type UpdateParts } from '../table/table.ts';
import type { ExtraWrites } from '../table/transactions.ts';
import { toInstant } from '../time.ts';
import type { RequestLimits } from './accounts.ts';

/** The permissions of a key. Deleting counts as writing. */
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
 * A key as stored: never the key itself, only its SHA-256 digest. The numbers are its token bucket. At `tat`
 * (epoch ms) the bucket is full again. From `allowAt` (epoch ms; `tat` minus the width of the burst) the next
 * request is allowed. One request costs `intervalMs`, and leaves `allowAt` `spareMs` in the past if the
 * bucket was full.
 */
export const ApiKey = z.object({
  keyId: z.string(),
  accountId: z.string(),
  digest: z.string(),
  last4: z.string(),
  label: z.string(),
  /** A scope of another version grants nothing. */
  scopes: z.pipe(
    z.array(z.string()),
    z.transform((scopes: string[]) => SCOPES.filter((scope) => scopes.includes(scope))),
  ),
  /** Whose request it is when a client for OpenAI's API names no email address. */
  defaultEndUser: z.optional(z.string()),
  createdAt: z.string(),
  lastUsedAt: z.optional(z.string()),
  revokedAt: z.optional(z.string()),
  tat: z.optional(z.number()),
  allowAt: z.optional(z.number()),
  intervalMs: z.number(),
  spareMs: z.number(),
});
export type ApiKey = z.infer<typeof ApiKey>;

/** The key of a stored item. Throws when the item is malformed. */
export const toApiKey = (item: StoredItem): ApiKey => ApiKey.parse(item);

/**
 * Access pattern 9: creates a key of an account. Only this call ever returns its text, which is not stored.
 * Throws `OutcomeUnknownError` when the answer was lost and the key is not found.
 */
export const insertApiKey = async (
  accountId: string,
  options: { scopes: readonly Scope[]; label: string; defaultEndUser?: string; limits: RequestLimits },
  now: Date,
  extraWritesOf: (keyId: string) => ExtraWrites = () => [],
): Promise<{ apiKey: ApiKey; text: string }> => {
  const { text, parsed } = newKey(accountId);
  const apiKey: ApiKey = {
    keyId: parsed.keyId,
    accountId,
    digest: parsed.digest,
    last4: text.slice(-4),
    label: options.label,
    scopes: [...options.scopes],
    ...(options.defaultEndUser !== undefined && { defaultEndUser: options.defaultEndUser }),
    createdAt: toInstant(now),
    ...bucketOf(options.limits),
  };
  const { keyId, createdAt } = apiKey;
  await insertNew(
    { ...apiKeyKey(keyId), ...apiKeyListing(accountId, createdAt, keyId), ...apiKey },
    `No answer came, so ${keyId} may exist, but its text is lost: revoke it and create another.`,
    extraWritesOf(keyId),
  );
  return { apiKey, text };
};

/** Access pattern 10: a key by its id, strongly consistent. Throws `NotFoundError`. */
export const getApiKey = async (keyId: string): Promise<ApiKey> => {
  const item = await getItem(apiKeyKey(keyId));
  if (!item) throw noSuchKey(keyId);
  return toApiKey(item);
};

const noSuchKey = (keyId: string): NotFoundError => new NotFoundError(`There is no key ${keyId}.`);

/**
 * Access pattern 10: an account's keys, oldest first, eventually consistent. For operators: reads the whole
 * index.
 */
export const listApiKeys = async (accountId: string): Promise<ApiKey[]> =>
  listedItems(apiKeyListingPartition(accountId), toApiKey);

/** Access pattern 11: gives every key of an account a full bucket of these limits. */
export const setKeyLimits = async (accountId: string, limits: RequestLimits): Promise<void> => {
  for (const { keyId } of await listApiKeys(accountId)) {
    // One that was deleted since stays so.
    await updateExisting(
      apiKeyKey(keyId),
      setAll({ ...bucketOf(limits), tat: undefined, allowAt: undefined }),
    );
  }
};

/**
 * Access pattern 11: revokes a key for good; a repeated call keeps the first instant. Throws `NotFoundError`.
 */
export const revokeApiKey = (keyId: string, now: Date, extraWrites?: ExtraWrites): Promise<ApiKey> =>
  updateApiKey(
    keyId,
    {
      UpdateExpression: 'SET revokedAt = if_not_exists(revokedAt, :now)',
      ExpressionAttributeValues: { ':now': toInstant(now) },
    },
    extraWrites,
  );

/** Access pattern 11: sets a key's default end-user, normalized, or takes it away. Throws `NotFoundError`. */
export const setDefaultEndUser = (
  keyId: string,
  email: string | undefined,
  extraWrites?: ExtraWrites,
): Promise<ApiKey> => updateApiKey(keyId, setAll({ defaultEndUser: email }), extraWrites);

const updateApiKey = async (
  keyId: string,
  update: UpdateParts,
  extraWrites?: ExtraWrites,
): Promise<ApiKey> => {
  const item = await updateExisting(apiKeyKey(keyId), update, extraWrites);
  if (!item) throw noSuchKey(keyId);
  return toApiKey(item);
};

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 32 base-62 digits hold 190 bits. */
const SECRET_LENGTH = 32;
const KEY_TEXT = new RegExp(`^gsk_(${ACCOUNT_ID_PATTERN})_([0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{6})$`);

/** The parts of a key's text, read without any look-up. */
export interface ParsedKey {
  accountId: string;
  keyId: string;
  /** SHA-256 of the text, in hex. */
  digest: string;
}

/** The parts of a key's text; undefined when its format or checksum is wrong. */
export const parseKey = (key: string): ParsedKey | undefined => {
  const accountId = KEY_TEXT.exec(key)?.[1];
  if (accountId === undefined || checksum(key.slice(0, -6)) !== key.slice(-6)) return undefined;
  return parsedKey(accountId, key);
};

/** The text of a new random key of an account, with its parts. */
export const newKey = (accountId: string): { text: string; parsed: ParsedKey } => {
  const secret = Array.from({ length: SECRET_LENGTH }, () => BASE62.charAt(randomInt(62))).join('');
  const body = `gsk_${accountId}_${secret}`;
  const text = body + checksum(body);
  return { text, parsed: parsedKey(accountId, text) };
};

/** The key id is 128 bits of the digest: computable from the key, but not the other way round. */
const parsedKey = (accountId: string, text: string): ParsedKey => {
  const digest = hash('sha256', text);
  return { accountId, keyId: `key_${digest.slice(0, 32)}`, digest };
};

/** The CRC-32 of the text before it, in six base-62 digits: a mistyped key costs no look-up. */
const checksum = (text: string): string => {
  let rest = crc32(text);
  let digits = '';
  for (let digit = 0; digit < 6; digit++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
};

/** The constants of a token bucket for an account's limits, in milliseconds (see `ApiKey`). */
const bucketOf = ({ requestsPerSecond, burst }: RequestLimits) => {
  const intervalMs = 1000 / requestsPerSecond;
  return { intervalMs, spareMs: (burst - 2) * intervalMs };
};
