import { paginateScan } from '@aws-sdk/lib-dynamodb';
import {
  accountKey,
  apiKeyKey,
  auditKey,
  balanceChangeKey,
  balanceEventKey,
  circuitKey,
  deletedRequestKey,
  endUserKey,
  endUserRemovalKey,
  formerDeletedRequestKey,
  gateKey,
  gateWaiterKey,
  type ItemKey,
  idempotencyKey,
  inFlightKey,
  ledgerEntryKey,
  modelSettingsKey,
  pauseKey,
  providerAttemptKey,
  providerWaitKey,
  RECONCILER_RUN_KEY,
  requestKey,
  spentKey,
  waitingAccountKey,
  webhookAttemptKey,
  webhookAttemptsEndKey,
  webhookHostKey,
} from '../table/keys.ts';
import { batchGet, type StoredItem, table, tableName } from '../table/table.ts';

const keyOf = ({ PK, SK }: StoredItem): ItemKey => ({ PK: String(PK), SK: String(SK) });

/** Access pattern 75: every item of a table, by default the one in use, page by page, strongly consistent. Writes meanwhile may or may not show. */
export const scanTable = async function* (TableName = tableName()): AsyncGenerator<StoredItem[]> {
  const pages = paginateScan({ client: table }, { TableName, ConsistentRead: true });
  for await (const { Items = [] } of pages) yield Items;
};

/** Access pattern 75: what the table in use has under the keys of these items, strongly consistent, in their order. */
export const findCounterparts = (items: readonly StoredItem[]): Promise<(StoredItem | undefined)[]> =>
  batchGet(items.map(keyOf));

const someone = { accountId: '', email: '', model: '', removalId: '', createdAt: '', requestId: '' };
const KEYS = {
  account: accountKey(''),
  balanceEvent: balanceEventKey('', ''),
  apiKey: apiKeyKey(''),
  modelSettings: modelSettingsKey(''),
  request: requestKey(''),
  deletedRequest: deletedRequestKey('', ''),
  formerDeletedRequest: formerDeletedRequestKey('', ''),
  endUser: endUserKey('', ''),
  endUserRemoval: endUserRemovalKey(someone),
  spent: spentKey('', '', ''),
  pause: pauseKey(someone),
  ledgerEntry: ledgerEntryKey('', 1),
  balanceChangeKey: balanceChangeKey('', ''),
  providerAttempt: providerAttemptKey('', 0, 0),
  providerWait: providerWaitKey(''),
  idempotencyRecord: idempotencyKey('', ''),
  callsUnderWay: inFlightKey('webhooks', ''),
  webhookHost: webhookHostKey('', ''),
  gate: gateKey(''),
  circuit: circuitKey(''),
  waitingAccount: waitingAccountKey('', ''),
  gateWaiter: gateWaiterKey('', someone),
  reconcilerRun: RECONCILER_RUN_KEY,
  webhookAttempt: webhookAttemptKey('', '', 1),
  webhookAttemptsEnd: webhookAttemptsEndKey(''),
  staffChange: auditKey(''),
};

/** What the keys of an entity share, and no other has: how both of their parts begin. */
const kindOf = ({ PK, SK }: StoredItem): string => [PK, SK].map((part) => `${part}`.split('#', 1)).join(' ');
const NAMES = new Map(Object.entries(KEYS).map(([name, key]) => [kindOf({ ...key }), name]));

/** The name of an item's entity, by its key, or how its key begins where this version does not know the entity. */
export const entityOf = (item: StoredItem): keyof typeof KEYS | (string & {}) =>
  NAMES.get(kindOf(item)) ?? kindOf(item);
