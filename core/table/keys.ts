import type { Instant } from '../time.ts';

/** Attribute names of the table's primary key and of its indexes: the infrastructure declares the same ones. */
export const PRIMARY_KEY = { partition: 'PK', sort: 'SK' } as const;
/** Sparse index of what is listed by creation time: accounts, the keys and the end-users of an account. */
export const LISTING_INDEX = { name: 'GSI1', partition: 'GSI1PK', sort: 'GSI1SK' } as const;
/** Attributes the listing index holds beside the keys. */
export const LISTING_ATTRIBUTES = ['blockedAt'];

/**
 * Indexes of requests, one for each way of narrowing a list down. Their sort key is the table's own partition
 * key: it ends with the request's id, and ids sort by creation time. Only requests are in them.
 */
export const REQUEST_INDEXES = {
  byAccount: { name: 'GSI2', partition: 'GSI2PK' },
  byStatus: { name: 'GSI3', partition: 'GSI3PK' },
  byEndUser: { name: 'GSI4', partition: 'GSI4PK' },
  byEndUserAndStatus: { name: 'GSI5', partition: 'GSI5PK' },
} as const;
/** Attributes those indexes hold beside the keys: what tells, with the time, how a request reads. */
export const REQUEST_INDEX_ATTRIBUTES = ['ttl', 'expiresAt'];

/** Epoch seconds after which DynamoDB may sweep an item. */
export const TTL_ATTRIBUTE = 'ttl';

export interface ItemKey {
  PK: string;
  SK: string;
}

export const accountPartition = (accountId: string): string => `ACCOUNT#${accountId}`;
export const accountKey = (accountId: string): ItemKey => ({
  PK: accountPartition(accountId),
  SK: 'ACCOUNT',
});

/** Every account by creation time. */
export const accountListing = (accountId: string, createdAt: Instant) => ({
  GSI1PK: 'ACCOUNTS',
  GSI1SK: `${createdAt}#${accountId}`,
});

export const apiKeyKey = (keyId: string): ItemKey => ({ PK: `KEY#${keyId}`, SK: 'KEY' });

/** An account's API keys by creation time. */
export const apiKeyListing = (accountId: string, createdAt: Instant, keyId: string) => ({
  GSI1PK: `ACCOUNT#${accountId}#KEYS`,
  GSI1SK: `${createdAt}#${keyId}`,
});
export const apiKeyListingPartition = (accountId: string): string => `ACCOUNT#${accountId}#KEYS`;

export const ledgerPartition = (accountId: string): string => `LEDGER#${accountId}`;
/** Entry numbers count from 1; 12 digits keep text order equal to number order. */
export const ledgerEntrySort = (number: number): string => `ENTRY#${String(number).padStart(12, '0')}`;
export const MAX_ENTRY_NUMBER = 999_999_999_999;
export const ledgerEntryKey = (accountId: string, number: number): ItemKey => ({
  PK: ledgerPartition(accountId),
  SK: ledgerEntrySort(number),
});

export const endUserKey = (accountId: string, email: string): ItemKey => ({
  PK: accountPartition(accountId),
  SK: `END_USER#${email}`,
});

/**
 * An account's end-users by creation time. Kept short, as a page is reached by reading past the entries
 * before it: the address is in the table's own key already.
 */
export const endUserListing = (accountId: string, createdAt: Instant) => ({
  GSI1PK: endUserListingPartition(accountId),
  GSI1SK: createdAt,
});
export const endUserListingPartition = (accountId: string): string => `END_USERS#${accountId}`;

export const requestPartition = (requestId: string): string => `REQUEST#${requestId}`;
export const requestKey = (requestId: string): ItemKey => ({
  PK: requestPartition(requestId),
  SK: 'REQUEST',
});

/** Where a request stands in the indexes that do not change with its status. */
export const requestListing = (accountId: string, email: string) => ({
  GSI2PK: accountId,
  GSI4PK: `${accountId}#${email}`,
});
/** Where a request stands in the indexes that follow its status. */
export const requestStatusListing = (accountId: string, email: string, status: string) => ({
  GSI3PK: `${accountId}#${status}`,
  GSI5PK: `${accountId}#${email}#${status}`,
});

/** Requests that are not over with everything that follows their end are listed in so many partitions. */
export const OPEN_WORK_SHARDS = 8;
/** Where a request stands among the open work, oldest first. Spread, as all requests pass through here. */
export const openWorkListing = (requestId: string, createdAt: Instant) => ({
  GSI1PK: openWorkPartition(shardOf(requestId)),
  GSI1SK: createdAt,
});
export const openWorkPartition = (shard: number): string => `OPEN_WORK#${shard}`;
/** The end of an id is random. */
const shardOf = (requestId: string): number =>
  (requestId.codePointAt(requestId.length - 1) ?? 0) % OPEN_WORK_SHARDS;

/** What stays of a request that was deleted: that it was, for the ledger's sake. */
export const deletedRequestKey = (accountId: string, requestId: string): ItemKey => ({
  PK: ledgerPartition(accountId),
  SK: `${DELETED_REQUEST_PREFIX}${requestId}`,
});
export const DELETED_REQUEST_PREFIX = 'DELETED#';

/** While it is there and not over, an end-user cannot create with a model. */
export const pauseKey = ({
  accountId,
  email,
  model,
}: {
  accountId: string;
  email: string;
  model: string;
}): ItemKey => ({
  PK: accountPartition(accountId),
  SK: `PAUSE#${email}#${model}`,
});

/** What a caller's `Idempotency-Key` led to; `digest` is that of the key, whose text can be anything. */
export const idempotencyKey = (accountId: string, digest: string): ItemKey => ({
  PK: accountPartition(accountId),
  SK: `IDEMPOTENCY#${digest}`,
});

/** A provider call made for a request: `call` is its place in the plan, `attempt` counts its tries, both from 0. */
export const providerAttemptKey = (requestId: string, call: number, attempt: number): ItemKey => ({
  PK: requestPartition(requestId),
  SK: `ATTEMPT#${String(call).padStart(2, '0')}#${String(attempt).padStart(2, '0')}`,
});
export const PROVIDER_ATTEMPT_PREFIX = 'ATTEMPT#';

/** How a request waits for its provider. */
export const providerWaitKey = (requestId: string): ItemKey => ({
  PK: requestPartition(requestId),
  SK: 'WAIT',
});

/** A try to deliver a request's webhook: `number` counts those of its delivery from 1. */
export const webhookAttemptKey = (requestId: string, delivery: string, number: number): ItemKey => ({
  PK: requestPartition(requestId),
  SK: `${WEBHOOK_ATTEMPT_PREFIX}${delivery}#${String(number).padStart(3, '0')}`,
});
export const WEBHOOK_ATTEMPT_PREFIX = 'WEBHOOK#';

/** What the operator set for a model: its rate and whether it is switched off. */
export const modelSettingsKey = (modelId: string): ItemKey => ({ PK: 'CATALOG', SK: `MODEL#${modelId}` });
export const MODEL_SETTINGS_PARTITION = 'CATALOG';

/** The file of one output. Outputs of a request share a prefix, so they can be found and removed together. */
export const outputObjectKey = (
  accountId: string,
  requestId: string,
  index: number,
  extension: string,
): string => `${outputObjectPrefix(accountId, requestId)}${index}.${extension}`;
export const outputObjectPrefix = (accountId: string, requestId: string): string =>
  `${OUTPUT_PREFIX}${accountId}/${requestId}/`;
export const OUTPUT_PREFIX = 'outputs/';
