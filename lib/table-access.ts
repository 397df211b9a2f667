import type { EndpointName } from '../core/routes.ts';
import type { PartitionKind } from '../core/table/keys.ts';

/** Operations that read the table. */
export type ReadOperation = 'GetItem' | 'BatchGetItem' | 'Query';
/** Operations that write it, also as parts of a transaction. A condition check is one of a transaction's. */
export type WriteOperation =
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'ConditionCheckItem'
  | 'BatchWriteItem';

/** Which items a function may touch: the kinds of their partitions, and the operations. */
export interface ItemAccess {
  reads: readonly [kinds: readonly PartitionKind[], ...operations: ReadOperation[]];
  /** One list for all writes: IAM may check a transaction against all its partitions. */
  writes?: readonly [kinds: readonly PartitionKind[], ...operations: WriteOperation[]];
  /** Partitions that are only queried. */
  queries?: readonly PartitionKind[];
  /** Partitions whose items are only updated, each by a call of its own and in no transaction. */
  updates?: readonly PartitionKind[];
  /** Operations on the gates of the providers' routes, each a call of its own. */
  gates?: readonly (ReadOperation | WriteOperation)[];
}

/** A function with access to the table, by the stem of its file. */
export type TableUser =
  | EndpointName
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

/** Every endpoint but the callback reads the account, and updates the key, which counts the call. */
const ACCOUNT: ItemAccess = { reads: [['accounts'], 'GetItem'], updates: ['apiKeys'] };
const BLOCK: ItemAccess = { ...ACCOUNT, updates: ['apiKeys', 'endUsers'] };
const CREATE: ItemAccess = {
  reads: [['accounts', 'endUsers', 'idempotency', 'requests'], 'BatchGetItem', 'GetItem'],
  queries: ['modelSettings'],
  writes: [['accounts', 'endUsers', 'idempotency', 'requests', 'ledgers'], 'PutItem', 'UpdateItem'],
  updates: ['apiKeys', 'inFlightFilter'],
};
const DELETE: ItemAccess = {
  reads: [['accounts', 'requests', 'ledgers'], 'GetItem', 'Query'],
  writes: [['requests', 'ledgers'], 'BatchWriteItem', 'DeleteItem', 'PutItem', 'UpdateItem'],
  updates: ['apiKeys'],
};
/** A list reads an index, and the items of the page. */
const listOf = (kind: PartitionKind): ItemAccess => ({
  ...ACCOUNT,
  reads: [['accounts', kind], 'BatchGetItem', 'GetItem'],
});
/** Functions that call providers or read their outputs reach only requests: no account, key or ledger. */
const TASK: ItemAccess = { reads: [['requests'], 'GetItem', 'Query'], writes: [['requests'], 'UpdateItem'] };
/** Functions that end a request also refund it. */
const END: ItemAccess = {
  reads: [['requests', 'accounts'], 'GetItem', 'Query'],
  writes: [['requests', 'accounts', 'endUsers', 'ledgers'], 'PutItem', 'UpdateItem'],
};

/** Takes a request that has ended out of its queue and gives its permit back. */
const LEAVE = ['UpdateItem', 'DeleteItem'] as const;

/** The items that each function may touch. */
export const TABLE_ACCESS: Record<TableUser, ItemAccess> = {
  'create-generation': CREATE,
  'create-video': { ...CREATE, updates: ['apiKeys', 'inFlightFilter', 'inFlightClips'] },
  'get-generation': { ...ACCOUNT, reads: [['accounts', 'requests'], 'GetItem'] },
  'get-video': {
    reads: [['accounts', 'requests', 'reconcilerRun'], 'GetItem', 'Query'],
    updates: ['apiKeys', 'requests'],
  },
  'list-generations': listOf('requests'),
  'delete-generation': DELETE,
  'bulk-delete-generations': DELETE,
  'delete-end-user': {
    reads: [['accounts', 'endUsers', 'requests', 'ledgers'], 'GetItem', 'Query'],
    writes: [['endUsers', 'requests', 'ledgers'], 'BatchWriteItem', 'DeleteItem', 'PutItem', 'UpdateItem'],
    updates: ['apiKeys'],
  },
  'list-models': { ...ACCOUNT, queries: ['modelSettings'] },
  'list-end-users': listOf('endUsers'),
  'block-end-user': BLOCK,
  'unblock-end-user': BLOCK,
  'get-balance': ACCOUNT,
  'list-balance-history': { ...ACCOUNT, reads: [['accounts', 'ledgers'], 'GetItem', 'Query'] },
  'receive-callback': TASK,
  'dispatch-request': {
    reads: [['requests'], 'Query'],
    writes: [['requests'], 'PutItem', 'UpdateItem'],
    gates: LEAVE,
  },
  'await-capacity': {
    reads: [['requests', 'reconcilerRun'], 'GetItem'],
    writes: [['requests'], 'UpdateItem'],
    updates: ['reconcilerRun'],
    gates: [...LEAVE, 'PutItem'],
  },
  'await-provider': {
    ...TASK,
    reads: [['requests', 'reconcilerRun'], 'GetItem', 'Query'],
    updates: ['reconcilerRun'],
  },
  'query-provider': TASK,
  'store-outputs': { ...TASK, gates: ['UpdateItem'] },
  'settle-request': END,
  'fail-request': { ...END, gates: LEAVE },
  'expire-requests': { ...TASK, reads: [['requests'], 'GetItem'] },
  'deliver-webhook': {
    reads: [['requests', 'accounts', 'webhookHosts'], 'GetItem', 'Query'],
    writes: [['requests'], 'ConditionCheckItem', 'PutItem'],
    updates: ['webhookHosts', 'inFlightWebhooks'],
  },
  reconcile: {
    reads: [
      ['requests', 'accounts', 'endUsers', 'ledgers', 'reconcilerRun'],
      'BatchGetItem',
      'GetItem',
      'Query',
    ],
    updates: ['reconcilerRun'],
    writes: [
      ['requests', 'accounts', 'endUsers', 'ledgers'],
      'BatchWriteItem',
      'DeleteItem',
      'PutItem',
      'UpdateItem',
    ],
    gates: ['BatchGetItem', 'Query', 'UpdateItem', 'DeleteItem'],
  },
  'reconcile-lost': { ...END, gates: LEAVE },
  'verify-ledgers': {
    reads: [['accounts', 'requests', 'ledgers'], 'BatchGetItem', 'GetItem', 'Query'],
  },
};
