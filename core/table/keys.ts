import type { Instant } from '../time.ts';

/** Attribute names of the table's primary key; the infrastructure declares them from here. */
export const PRIMARY_KEY = { partition: 'PK', sort: 'SK' } as const;
/** Sparse index of items listed by time: accounts, an account's keys and end-users by creation; work left by when it is due. */
export const LISTING_INDEX = { name: 'GSI1', partition: 'GSI1PK', sort: 'GSI1SK' } as const;
/** Attributes of the listing index other than keys. */
export const LISTING_ATTRIBUTES = ['blockedAt'];

/**
 * Indexes of requests only. Their sort key is the table's partition key, which ends with the request id, and ids
 * sort by creation time. No key depends on the status, so a change of status moves no entry.
 */
export const REQUEST_INDEXES = {
  byAccount: { name: 'GSI2', partition: 'GSI2PK' },
  byEndUser: { name: 'GSI3', partition: 'GSI3PK' },
} as const;
/** Attributes of the request indexes other than keys. Set when a request ends: its outcome and when it leaves the list. */
export const REQUEST_INDEX_ATTRIBUTES = ['ttl', 'expiresAt'];

/** Epoch seconds after which DynamoDB may delete an item. */
export const TTL_ATTRIBUTE = 'ttl';

export interface ItemKey {
  PK: string;
  SK: string;
}

/** Everything that staff changed, by time. No function of the service reads or writes it. */
export const AUDIT_PARTITION = 'AUDIT';
export const auditKey = (auditId: string): ItemKey => ({ PK: AUDIT_PARTITION, SK: auditSort(auditId) });
/** The sort key of a change, or the beginning of those of all. */
export const auditSort = (auditId = ''): string => `ENTRY#${auditId}`;

/** The partition of an account, with the rare events of its balance: every change of the balance is a transaction on it. */
export const accountPartition = (accountId: string): string => `ACCOUNT#${accountId}`;
export const accountKey = (accountId: string): ItemKey => ({
  PK: accountPartition(accountId),
  SK: 'ACCOUNT',
});

/** An event of an account's balance, which its webhook reports. */
export const balanceEventKey = (accountId: string, eventId: string): ItemKey => ({
  PK: accountPartition(accountId),
  SK: `${BALANCE_EVENT_PREFIX}${eventId}`,
});
export const BALANCE_EVENT_PREFIX = 'BALANCE_EVENT#';

/** Lists every account by creation time. */
export const accountListing = (accountId: string, createdAt: Instant) => ({
  GSI1PK: ACCOUNT_LISTING_PARTITION,
  GSI1SK: `${createdAt}#${accountId}`,
});
export const ACCOUNT_LISTING_PARTITION = 'ACCOUNTS';

export const apiKeyKey = (keyId: string): ItemKey => ({ PK: `KEY#${keyId}`, SK: 'KEY' });

export const apiKeyListing = (accountId: string, createdAt: Instant, keyId: string) => ({
  GSI1PK: apiKeyListingPartition(accountId),
  GSI1SK: `${createdAt}#${keyId}`,
});
export const apiKeyListingPartition = (accountId: string): string => `ACCOUNT#${accountId}#KEYS`;

/** The partition of an account's ledger entries and operators' idempotency keys. */
export const ledgerPartition = (accountId: string): string => `LEDGER#${accountId}`;
/** Entry numbers count from 1; padding to 12 digits makes text order number order. */
export const ledgerEntrySort = (number: number): string => `ENTRY#${String(number).padStart(12, '0')}`;
export const MAX_ENTRY_NUMBER = 999_999_999_999;
export const ledgerEntryKey = (accountId: string, number: number): ItemKey => ({
  PK: ledgerPartition(accountId),
  SK: ledgerEntrySort(number),
});

/** The balance change that an operator's idempotency key made. Takes the key's digest: a key can be any text. */
export const balanceChangeKey = (accountId: string, digest: string): ItemKey => ({
  PK: ledgerPartition(accountId),
  SK: `CHANGE#${digest}`,
});

/** The partition of an account's end-users, their pauses and removals, and of what is counted for budgets. */
export const endUserPartition = (accountId: string): string => `USERS#${accountId}`;
/** An end-user of an account; `email` is normalized. */
export const endUserKey = (accountId: string, email: string): ItemKey => ({
  PK: endUserPartition(accountId),
  SK: `END_USER#${email}`,
});

/** The spending of a budget's owner in a period: a day, `2026-11-24`, or a month, `2026-11`. */
export const spentKey = (accountId: string, ownerId: string, period: string): ItemKey => ({
  PK: endUserPartition(accountId),
  SK: `SPENT#${ownerId}#${period}`,
});

/**
 * Lists an account's end-users by creation time. Kept short, because reaching a page reads every entry before
 * it; the email address is in the table's own key.
 */
export const endUserListing = (accountId: string, createdAt: Instant) => ({
  GSI1PK: endUserListingPartition(accountId),
  GSI1SK: createdAt,
});
export const endUserListingPartition = (accountId: string): string => `END_USERS#${accountId}`;

/** The removal of an end-user. An address that is used again can have several. */
export const endUserRemovalKey = ({
  accountId,
  email,
  removalId,
}: {
  accountId: string;
  email: string;
  removalId: string;
}): ItemKey => ({ PK: endUserPartition(accountId), SK: removalPrefix(email) + removalId });
/** The beginning of the sort keys of an address' removals: a domain has no `#`. */
export const removalPrefix = (email: string): string => `${END_USER_REMOVAL_PREFIX}${email}#`;
export const END_USER_REMOVAL_PREFIX = 'REMOVAL#';

/** The partition of a request, its provider attempts and its wait. */
export const requestPartition = (requestId: string): string => `REQUEST#${requestId}`;
export const requestKey = (requestId: string): ItemKey => ({
  PK: requestPartition(requestId),
  SK: REQUEST_SORT,
});
/** Comes right after the provider attempts. */
export const REQUEST_SORT = 'REQUEST';

export const requestListing = (accountId: string, email: string) => ({
  GSI2PK: accountId,
  GSI3PK: `${accountId}#${email}`,
});

/**
 * The lists of work left, ordered by next due time. An item is in at most one.
 *
 * `START`: requests that may have no execution. `EXPIRE`: succeeded requests whose files are left to remove at
 * `expiresAt`. `CHECK`: all other work.
 */
export type DueList = 'START' | 'CHECK' | 'EXPIRE';
/** Number of partitions that each due list is spread over: every request is written there, and a partition takes 1,000 a second. */
export const DUE_SHARDS = 4;
/** Puts an item on a list by its next due time. `id` chooses the partition. */
export const dueListing = (list: DueList, id: string, dueAt: Instant) => ({
  GSI1PK: duePartition(list, shardOf(id)),
  GSI1SK: dueAt,
});
/** The due list that a partition of the listing index belongs to; undefined for any other partition, or none. */
export const dueListOf = (partition = ''): DueList | undefined =>
  DUE_PARTITION.exec(partition)?.[1] as DueList;
export const DUE_PREFIX = 'DUE#';
const DUE_PARTITION = /^DUE#(START|CHECK|EXPIRE)#/;
export const duePartition = (list: DueList, shard: number): string => `${dueListPrefix(list)}${shard}`;
export const dueListPrefix = (list: DueList): string => `${DUE_PREFIX}${list}#`;
const shardOf = (id: string): number => hashOf(id) % DUE_SHARDS;
/** A number that spreads ids evenly. */
export const hashOf = (id: string): number =>
  [...id].reduce((hash, character) => (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_521, 0);

export const deletedRequestPartition = (accountId: string): string => `DELETED#${accountId}`;
/** Marks a request as deleted, so that the ledger can still be verified. */
export const deletedRequestKey = (accountId: string, requestId: string): ItemKey => ({
  PK: deletedRequestPartition(accountId),
  SK: `${DELETED_REQUEST_PREFIX}${requestId}`,
});
export const DELETED_REQUEST_PREFIX = 'DELETED#';

/** Pauses creations of an end-user with a model, until the instant in the item. */
export const pauseKey = ({
  accountId,
  email,
  model,
}: {
  accountId: string;
  email: string;
  model: string;
}): ItemKey => ({
  PK: endUserPartition(accountId),
  SK: `PAUSE#${email}#${model}`,
});

export const idempotencyPartition = (accountId: string): string => `IDEMPOTENCY#${accountId}`;
/** The request that an `Idempotency-Key` created. Takes the key's digest, because a key can be any text. */
export const idempotencyKey = (accountId: string, digest: string): ItemKey => ({
  PK: idempotencyPartition(accountId),
  SK: `KEY#${digest}`,
});

/** An attempt of a provider call: `call` is its place in the request's plan; both count from 0. */
export const providerAttemptKey = (requestId: string, call: number, attempt: number): ItemKey => ({
  PK: requestPartition(requestId),
  SK: `ATTEMPT#${String(call).padStart(2, '0')}#${String(attempt).padStart(2, '0')}`,
});
export const PROVIDER_ATTEMPT_PREFIX = 'ATTEMPT#';

/** The state of a request's wait for its provider. */
export const providerWaitKey = (requestId: string): ItemKey => ({
  PK: requestPartition(requestId),
  SK: 'WAIT',
});

/** The partition of a request's webhook attempts: apart, so that the function that calls foreign URLs writes no request. */
export const webhookAttemptPartition = (requestId: string): string => `WEBHOOK_ATTEMPTS#${requestId}`;
/** An attempt of a webhook delivery; `number` counts the attempts of that delivery from 1. */
export const webhookAttemptKey = (requestId: string, delivery: string, number: number): ItemKey => ({
  PK: webhookAttemptPartition(requestId),
  SK: `${WEBHOOK_ATTEMPT_PREFIX}${delivery}#${String(number).padStart(3, '0')}`,
});
export const WEBHOOK_ATTEMPT_PREFIX = 'WEBHOOK#';
/** Stands in the partition of a deleted request's webhook attempts: no attempt is recorded beside it. */
export const webhookAttemptsEndKey = (requestId: string): ItemKey => ({
  PK: webhookAttemptPartition(requestId),
  SK: 'DELETED',
});

/** How a host hangs when an account's webhooks are sent to it. Takes the host's digest: a host can be any text. */
export const webhookHostKey = (accountId: string, digest: string): ItemKey => ({
  PK: `${WEBHOOK_HOST_PREFIX}${accountId}#${digest}`,
  SK: 'BACK_OFF',
});
export const WEBHOOK_HOST_PREFIX = 'WEBHOOK_HOST#';

/** The kinds of outbound calls that are limited by how many are under way. */
export type InFlightKind = 'clips' | 'filter' | 'openai' | 'uploads' | 'usage' | 'webhooks';
/**
 * The calls of a kind that are under way for an account, in all or to one host. Takes the host's digest: a host can be any
 * text.
 */
export const inFlightKey = (kind: InFlightKind, whose: string): ItemKey => ({
  PK: `IN_FLIGHT#${kind}#${whose}`,
  SK: 'IN_FLIGHT',
});

/** The partition of a route's limit, with the queue of the route. */
export const routeLimitPartition = (route: string): string => `LIMIT#${route}`;
/** A route limit with its permits. */
export const routeLimitKey = (route: string): ItemKey => ({
  PK: routeLimitPartition(route),
  SK: ROUTE_LIMIT_SORT,
});
export const ROUTE_LIMIT_SORT = 'LIMIT';
/** Lists every route at which a request ever queued. */
export const queueListing = (route: string) => ({ GSI1PK: QUEUE_LISTING_PARTITION, GSI1SK: route });
export const QUEUE_LISTING_PARTITION = 'QUEUES';
/** An account with requests that queue at a route. */
export const waitingAccountKey = (route: string, accountId: string): ItemKey => ({
  PK: routeLimitPartition(route),
  SK: `${WAITING_ACCOUNT_PREFIX}${accountId}`,
});
export const WAITING_ACCOUNT_PREFIX = 'ACCOUNT#';
/** A request that queues at a route. An account's requests sort by age. */
export const queueEntryKey = (
  route: string,
  { accountId, createdAt, requestId }: { accountId: string; createdAt: Instant; requestId: string },
): ItemKey => ({
  PK: routeLimitPartition(route),
  SK: `${queueEntryPrefix(accountId)}${createdAt}#${requestId}`,
});
export const queueEntryPrefix = (accountId: string): string => `${QUEUE_ENTRY_PREFIX}${accountId}#`;
export const QUEUE_ENTRY_PREFIX = 'QUEUED#';

/** Whether a route is paused, and how its calls and tasks ended lately. */
export const routeStateKey = (route: string): ItemKey => ({
  PK: routeStatePartition(route),
  SK: ROUTE_STATE_SORT,
});
export const ROUTE_STATE_SORT = 'STATE';
export const routeStatePartition = (route: string): string => `ROUTE#${route}`;

/** The run of the reconciler that is at work. */
export const RECONCILER_RUN_KEY: ItemKey = { PK: 'RECONCILER', SK: 'RUN' };

/** The partition of the operator's settings for models. */
export const MODEL_SETTINGS_PARTITION = 'CATALOG';
const MODEL_SETTINGS_PREFIX = 'MODEL#';
/** The operator's settings for a model: its rate, and whether it is switched off. */
export const modelSettingsKey = (modelId: string): ItemKey => ({
  PK: MODEL_SETTINGS_PARTITION,
  SK: `${MODEL_SETTINGS_PREFIX}${modelId}`,
});
export const modelOfSettings = (SK: string): string => SK.slice(MODEL_SETTINGS_PREFIX.length);

/** Permits are attributes of the route limit's item, so that a permit and the room it takes change in one write. */
export const PERMIT_PREFIX = 'permit#';
export const permitAttribute = (requestId: string): string => PERMIT_PREFIX + requestId;
