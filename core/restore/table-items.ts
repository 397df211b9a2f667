import { paginateScan } from '@aws-sdk/lib-dynamodb';
import * as keys from '../table/keys.ts';
import { batchGet, type StoredItem, table, tableName } from '../table/table.ts';

const itemKey = ({ PK, SK }: StoredItem): keys.ItemKey => ({ PK: String(PK), SK: String(SK) });

/** Access pattern 75: every item of a table, by default the one in use, page by page, strongly consistent. Writes meanwhile may or may not show. */
export const scanTable = async function* (TableName = tableName()): AsyncGenerator<StoredItem[]> {
  const pages = paginateScan({ client: table }, { TableName, ConsistentRead: true });
  for await (const { Items = [] } of pages) yield Items;
};

/** Access pattern 75: what the table in use has under the keys of these items, strongly consistent, in their order. */
export const findCounterparts = (items: readonly StoredItem[]): Promise<(StoredItem | undefined)[]> =>
  batchGet(items.map(itemKey));

const someone = { accountId: '', email: '', model: '', removalId: '', createdAt: '', requestId: '' };
const KEYS = {
  account: keys.accountKey(''),
  balanceEvent: keys.balanceEventKey('', ''),
  apiKey: keys.apiKeyKey(''),
  modelSettings: keys.modelSettingsKey(''),
  request: keys.requestKey(''),
  deletedRequest: keys.deletedRequestKey('', ''),
  endUser: keys.endUserKey('', ''),
  endUserRemoval: keys.endUserRemovalKey(someone),
  spent: keys.spentKey('', '', ''),
  pause: keys.pauseKey(someone),
  ledgerEntry: keys.ledgerEntryKey('', 1),
  balanceChangeKey: keys.balanceChangeKey('', ''),
  providerAttempt: keys.providerAttemptKey('', 0, 0),
  providerWait: keys.providerWaitKey(''),
  idempotencyRecord: keys.idempotencyKey('', ''),
  callsUnderWay: keys.inFlightKey('webhooks', ''),
  webhookHost: keys.webhookHostKey('', ''),
  routeLimit: keys.routeLimitKey(''),
  routeState: keys.routeStateKey(''),
  waitingAccount: keys.waitingAccountKey('', ''),
  queueEntry: keys.queueEntryKey('', someone),
  reconcilerRun: keys.RECONCILER_RUN_KEY,
  webhookAttempt: keys.webhookAttemptKey('', '', 1),
  webhookAttemptsEnd: keys.webhookAttemptsEndKey(''),
  staffChange: keys.auditKey(''),
};

/** What the keys of an entity share, and no other has: how both of their parts begin. */
const kindOf = ({ PK, SK }: StoredItem): string => [PK, SK].map((part) => `${part}`.split('#', 1)).join(' ');
const NAMES = new Map(Object.entries(KEYS).map(([name, key]) => [kindOf({ ...key }), name]));

/** The name of an item's entity, by its key, or how its key begins where this version does not know the entity. */
export const entityOf = (item: StoredItem): keyof typeof KEYS | (string & {}) =>
  NAMES.get(kindOf(item)) ?? kindOf(item);
