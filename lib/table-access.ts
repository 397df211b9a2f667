import type { EndpointName } from '../core/routes.ts';
import type { OpenAiFunctionName } from './api-endpoints.ts';
import { WRITTEN_ATTRIBUTES } from './table-attributes.ts';
import type { PartitionKind } from './table-partitions.ts';

/** Operations that read the table. */
export type ReadOperation = 'GetItem' | 'BatchGetItem' | 'Query';
/** Operations that write it, also as parts of a transaction. A condition check is one of a transaction's. */
export type WriteOperation =
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'ConditionCheckItem'
  | 'BatchWriteItem';

/**
 * Writes that one transaction may make, granted as one IAM statement: IAM may check each action against every
 * partition and attribute of the transaction.
 */
export interface WriteAccess {
  kinds: readonly PartitionKind[];
  operations: readonly WriteOperation[];
  /** The only attributes that a call may name, besides the primary key. Absent: any. */
  attributes?: readonly string[];
}

/** Which items a function may touch: the kinds of their partitions, and the operations. */
export interface ItemAccess {
  reads: readonly [kinds: readonly PartitionKind[], ...operations: ReadOperation[]];
  writes?: readonly WriteAccess[];
  /** Partitions that are only queried. */
  queries?: readonly PartitionKind[];
  /** Partitions whose items are only updated, each by a call of its own and in no transaction. */
  updates?: readonly PartitionKind[];
  /** Operations on the limits of the providers' routes, each a call of its own. */
  routeLimits?: readonly (ReadOperation | WriteOperation)[];
  /** Operations on the states of routes, each a call of its own. */
  routeStates?: readonly ('BatchGetItem' | 'UpdateItem')[];
}

/** A function with access to the table, by the stem of its file. */
export type TableUser =
  | EndpointName
  | OpenAiFunctionName
  | 'dispatch-request'
  | 'await-capacity'
  | 'await-provider'
  | 'query-provider'
  | 'store-outputs'
  | 'settle-request'
  | 'fail-request'
  | 'expire-requests'
  | 'deliver-webhook'
  | 'reconcile'
  | 'reconcile-lost'
  | 'verify-ledgers';

/** Counts a call on its API key. */
const COUNT_CALL: WriteAccess = {
  kinds: ['apiKeys'],
  operations: ['UpdateItem'],
  attributes: WRITTEN_ATTRIBUTES.keyUse,
};
/** Notes how far a request has come. */
const PROGRESS: WriteAccess = {
  kinds: ['requests'],
  operations: ['UpdateItem'],
  attributes: WRITTEN_ATTRIBUTES.progress,
};
/**
 * Changes a balance, with the ledger entry, the request that causes the change, and the webhook that reports it. No
 * other write reaches accounts or ledgers.
 */
const MOVE_MONEY: WriteAccess = {
  kinds: ['requests', 'accounts', 'endUsers', 'ledgers', 'webhookAttempts'],
  operations: ['PutItem', 'UpdateItem'],
};
/** Removes a request with everything beside it and leaves a mark. */
const REMOVE: WriteAccess = {
  kinds: ['requests', 'webhookAttempts', 'deletedRequests'],
  operations: ['BatchWriteItem', 'DeleteItem', 'PutItem'],
  attributes: WRITTEN_ATTRIBUTES.deletion,
};
const REMOVE_END_USER: WriteAccess = {
  kinds: ['endUsers'],
  operations: ['BatchWriteItem', 'DeleteItem', 'PutItem', 'UpdateItem'],
};

/** Every endpoint but the callback reads the account, and counts the call. */
const ACCOUNT = { reads: [['accounts'], 'GetItem'], writes: [COUNT_CALL] } satisfies ItemAccess;
const LIST_MODELS: ItemAccess = { ...ACCOUNT, queries: ['modelSettings'] };
const BLOCK: ItemAccess = {
  ...ACCOUNT,
  writes: [
    COUNT_CALL,
    { kinds: ['endUsers'], operations: ['UpdateItem'], attributes: WRITTEN_ATTRIBUTES.block },
  ],
};
const BUDGET = {
  ...ACCOUNT,
  reads: [['accounts', 'endUsers', 'requests'], 'BatchGetItem', 'GetItem'],
  queries: ['ledgers'],
  updates: ['inFlightUsage'],
} satisfies ItemAccess;
const CREATE = {
  reads: [['accounts', 'endUsers', 'idempotency', 'requests'], 'BatchGetItem', 'GetItem'],
  queries: ['modelSettings'],
  writes: [COUNT_CALL, { ...MOVE_MONEY, kinds: [...MOVE_MONEY.kinds, 'idempotency'] }],
  updates: ['inFlightFilter', 'inFlightClips'],
} satisfies ItemAccess;
/** Judges as a creation does, and writes nothing but what judging takes. */
const QUOTE: ItemAccess = {
  reads: [['accounts', 'endUsers', 'requests'], 'BatchGetItem', 'GetItem'],
  queries: CREATE.queries,
  writes: [COUNT_CALL],
  updates: CREATE.updates,
};
/** A call finds the request of an equal one, and leaves none behind when it is refused. */
const CREATE_FOR_OPENAI: ItemAccess = {
  ...CREATE,
  queries: ['modelSettings', 'idempotency'],
  writes: [...CREATE.writes, { kinds: ['idempotency'], operations: ['DeleteItem'] }],
  updates: ['inFlightFilter', 'inFlightClips', 'inFlightOpenAi'],
};
const DELETE = {
  reads: [['accounts', 'requests', 'webhookAttempts', 'deletedRequests'], 'GetItem', 'Query'],
  writes: [COUNT_CALL, REMOVE],
  updates: ['deletedRequests'],
} satisfies ItemAccess;
/** A list reads an index, and the items of the page. */
const listOf = (kind: PartitionKind): ItemAccess => ({
  ...ACCOUNT,
  reads: [['accounts', kind], 'BatchGetItem', 'GetItem'],
});
/** Functions that call providers or read their outputs reach only requests: no account, key or ledger. */
const TASK: ItemAccess = { reads: [['requests'], 'GetItem', 'Query'], writes: [PROGRESS] };
/** Functions that end a request also refund it. */
const END: ItemAccess = { reads: [['requests', 'accounts'], 'GetItem', 'Query'], writes: [MOVE_MONEY] };

/** Takes a request that has ended out of its queue and gives its permit back. */
const LEAVE = ['UpdateItem', 'DeleteItem'] as const;

/** The items that each function may touch. */
export const TABLE_ACCESS: Record<TableUser, ItemAccess> = {
  'create-generation': CREATE,
  'create-openai-image': CREATE_FOR_OPENAI,
  'edit-openai-image': CREATE_FOR_OPENAI,
  'create-video': CREATE,
  'create-quote': QUOTE,
  'get-generation': { ...ACCOUNT, reads: [['accounts', 'requests'], 'GetItem'] },
  'get-video': {
    reads: [['accounts', 'requests', 'reconcilerRun'], 'GetItem', 'Query'],
    writes: [COUNT_CALL, PROGRESS],
  },
  'list-generations': listOf('requests'),
  'list-videos': listOf('requests'),
  'delete-generation': DELETE,
  'bulk-delete-generations': DELETE,
  'delete-end-user': {
    ...DELETE,
    reads: [[...DELETE.reads[0], 'endUsers'], 'GetItem', 'Query'],
    writes: [...DELETE.writes, REMOVE_END_USER],
  },
  'get-end-user-budget': BUDGET,
  'put-end-user-budget': {
    ...BUDGET,
    writes: [
      COUNT_CALL,
      {
        kinds: ['endUsers'],
        operations: ['UpdateItem'],
        attributes: WRITTEN_ATTRIBUTES.budget,
      },
    ],
  },
  'create-upload': { ...ACCOUNT, updates: ['inFlightUploads'] },
  'list-models': LIST_MODELS,
  'list-openai-models': LIST_MODELS,
  'get-openai-model': LIST_MODELS,
  'openai-videos': {
    ...CREATE_FOR_OPENAI,
    reads: [[...CREATE.reads[0], 'webhookAttempts', 'deletedRequests'], 'BatchGetItem', 'GetItem', 'Query'],
    writes: [...(CREATE_FOR_OPENAI.writes ?? []), REMOVE],
    updates: [...CREATE.updates, 'deletedRequests'],
  },
  'list-end-users': listOf('endUsers'),
  'block-end-user': BLOCK,
  'unblock-end-user': BLOCK,
  'get-balance': ACCOUNT,
  'list-balance-history': { ...ACCOUNT, reads: [['accounts', 'ledgers'], 'GetItem', 'Query'] },
  'get-usage': {
    ...ACCOUNT,
    reads: [['accounts', 'ledgers', 'endUsers', 'requests'], 'BatchGetItem', 'GetItem', 'Query'],
    updates: ['inFlightUsage'],
  },
  'receive-callback': TASK,
  'dispatch-request': {
    reads: [['requests'], 'Query'],
    queries: ['modelSettings'],
    writes: [{ ...PROGRESS, operations: ['PutItem', 'UpdateItem'] }],
    routeLimits: LEAVE,
    routeStates: ['BatchGetItem', 'UpdateItem'],
  },
  'await-capacity': {
    reads: [['requests', 'reconcilerRun'], 'GetItem'],
    writes: [PROGRESS],
    updates: ['reconcilerRun'],
    routeLimits: [...LEAVE, 'PutItem'],
  },
  'await-provider': {
    ...TASK,
    reads: [['requests', 'reconcilerRun'], 'GetItem', 'Query'],
    updates: ['reconcilerRun'],
  },
  'query-provider': TASK,
  'store-outputs': { ...TASK, routeLimits: ['UpdateItem'], routeStates: ['BatchGetItem', 'UpdateItem'] },
  'settle-request': { ...END, routeLimits: LEAVE },
  'fail-request': { ...END, routeLimits: LEAVE, routeStates: ['BatchGetItem', 'UpdateItem'] },
  'expire-requests': {
    reads: [['requests'], 'GetItem'],
    writes: [{ ...PROGRESS, attributes: WRITTEN_ATTRIBUTES.expiry }],
  },
  'deliver-webhook': {
    reads: [['requests', 'accounts', 'webhookHosts', 'webhookAttempts'], 'GetItem'],
    writes: [{ kinds: ['webhookAttempts'], operations: ['ConditionCheckItem', 'PutItem', 'UpdateItem'] }],
    updates: ['webhookHosts', 'inFlightWebhooks'],
  },
  reconcile: {
    reads: [
      ['requests', 'accounts', 'endUsers', 'webhookAttempts', 'deletedRequests', 'reconcilerRun'],
      'BatchGetItem',
      'GetItem',
      'Query',
    ],
    queries: ['modelSettings'],
    writes: [MOVE_MONEY, REMOVE, REMOVE_END_USER],
    updates: ['reconcilerRun', 'deletedRequests', 'webhookAttempts'],
    routeLimits: ['BatchGetItem', 'Query', 'UpdateItem', 'DeleteItem'],
    routeStates: ['BatchGetItem'],
  },
  'reconcile-lost': { ...END, routeLimits: LEAVE },
  'verify-ledgers': {
    reads: [['accounts', 'requests', 'ledgers', 'deletedRequests'], 'BatchGetItem', 'GetItem', 'Query'],
  },
};
