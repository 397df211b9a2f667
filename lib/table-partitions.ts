import {
  ACCOUNT_LISTING_PARTITION,
  accountPartition,
  apiKeyKey,
  DUE_PREFIX,
  deletedRequestPartition,
  endUserListingPartition,
  endUserPartition,
  idempotencyPartition,
  inFlightKey,
  ledgerPartition,
  MODEL_SETTINGS_PARTITION,
  QUEUE_LISTING_PARTITION,
  RECONCILER_RUN_KEY,
  requestPartition,
  routeLimitPartition,
  routeStatePartition,
  WEBHOOK_HOST_PREFIX,
  webhookAttemptPartition,
} from '../core/table/keys.ts';

/**
 * Patterns of partition keys, for permissions by item: the table's own by what they hold, and those of the listing index. The request
 * indexes' keys begin with an account's id.
 */
export const partitionPatterns = () => ({
  accounts: accountPartition('*'),
  endUsers: endUserPartition('*'),
  idempotency: idempotencyPartition('*'),
  apiKeys: apiKeyKey('*').PK,
  ledgers: ledgerPartition('*'),
  requests: requestPartition('*'),
  deletedRequests: deletedRequestPartition('*'),
  webhookAttempts: webhookAttemptPartition('*'),
  modelSettings: MODEL_SETTINGS_PARTITION,
  accountList: ACCOUNT_LISTING_PARTITION,
  endUserLists: endUserListingPartition('*'),
  inFlightClips: inFlightKey('clips', '*').PK,
  inFlightFilter: inFlightKey('filter', '*').PK,
  inFlightOpenAi: inFlightKey('openai', '*').PK,
  inFlightUploads: inFlightKey('uploads', '*').PK,
  inFlightUsage: inFlightKey('usage', '*').PK,
  inFlightWebhooks: inFlightKey('webhooks', '*').PK,
  webhookHosts: `${WEBHOOK_HOST_PREFIX}*`,
  dueLists: `${DUE_PREFIX}*`,
  expiryList: `${DUE_PREFIX}EXPIRE#*`,
  routeLimits: routeLimitPartition('*'),
  queueList: QUEUE_LISTING_PARTITION,
  routeStates: routeStatePartition('*'),
  reconcilerRun: RECONCILER_RUN_KEY.PK,
});
/** The name of a kind of partition. */
export type PartitionKind = keyof ReturnType<typeof partitionPatterns>;
