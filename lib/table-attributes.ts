import type { ApiKey } from '../core/accounts/api-keys.ts';
import type { EndUser } from '../core/end-users/end-users.ts';
import { ProviderAttempt } from '../core/provider-calls/provider-attempts.ts';
import { ProviderWait } from '../core/provider-calls/provider-waits.ts';
import { DeletedRequest } from '../core/requests/deleted-requests.ts';
import type { ImageRequest } from '../core/requests/request-rules.ts';
import { LISTING_INDEX, PRIMARY_KEY, TTL_ATTRIBUTE } from '../core/table/keys.ts';

const keysOf = <Name extends string>(shape: Record<Name, unknown>): Name[] => Object.keys(shape) as Name[];
/** Names of an entity's attributes, checked by the compiler. */
const named = <Entity>(...names: (keyof Entity & string)[]): string[] => names;

const LISTING = [LISTING_INDEX.partition, LISTING_INDEX.sort];

/**
 * The attributes that a role may name in its writes of an entity, in conditions too, by kind of write. Those of the primary key are always
 * allowed. IAM makes no difference between naming an attribute and writing it.
 */
export const WRITTEN_ATTRIBUTES = {
  /** The use of an API key: the numbers of its bucket. */
  keyUse: named<ApiKey>('tat', 'allowAt', 'intervalMs', 'spareMs', 'lastUsedAt'),
  /** The block of an end-user. */
  block: named<EndUser>('blockedAt'),
  /** The budget of an end-user and what is counted for it. */
  budget: [
    ...named<EndUser>('budget', 'budgetSince', 'endUserId', 'totalRequests', 'spentThousandths'),
    TTL_ATTRIBUTE,
  ],
  /** The progress of a request, its provider attempts and its wait. Not its owner, nor its price. */
  progress: [
    ...named<ImageRequest>(
      'status',
      'dispatchedAt',
      'assignment',
      'formerRoutes',
      'permitReleased',
      'outputs',
      'storedSoFar',
      'storingSince',
    ),
    ...LISTING,
    ...keysOf(ProviderAttempt.shape),
    'claimId',
    ...keysOf(ProviderWait.shape),
    TTL_ATTRIBUTE,
  ],
  /** The expiry of a request's files. */
  expiry: [...named<ImageRequest>('expiresAt', 'expiredAt', 'removalFailures'), ...LISTING],
  /** The deletion of a request: the condition on the request, the mark and the end of its webhook attempts. */
  deletion: ['status', ...keysOf(DeletedRequest.shape), ...LISTING, TTL_ATTRIBUTE],
} as const satisfies Record<string, readonly string[]>;

/** What a write is limited to, as `dynamodb:Attributes` counts it: the primary key and these. */
export const attributesNamed = (attributes: readonly string[]): string[] => [
  ...new Set([PRIMARY_KEY.partition, PRIMARY_KEY.sort, ...attributes]),
];
