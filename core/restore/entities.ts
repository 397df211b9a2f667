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

/** What kinds of items share, and no other has: how both parts of their keys begin. */
const kindOf = ({ PK, SK }: ItemKey): string => `${PK.split('#', 1)} ${SK.split('#', 1)}`;

const someone = { accountId: '', email: '', model: '', removalId: '', createdAt: '', requestId: '' };
const NAMES = {
  account: kindOf(accountKey('')),
  balanceEvent: kindOf(balanceEventKey('', '')),
  apiKey: kindOf(apiKeyKey('')),
  modelSettings: kindOf(modelSettingsKey('')),
  request: kindOf(requestKey('')),
  deletedRequest: kindOf(deletedRequestKey('', '')),
  formerDeletedRequest: kindOf(formerDeletedRequestKey('', '')),
  endUser: kindOf(endUserKey('', '')),
  endUserRemoval: kindOf(endUserRemovalKey(someone)),
  spent: kindOf(spentKey('', '', '')),
  pause: kindOf(pauseKey(someone)),
  ledgerEntry: kindOf(ledgerEntryKey('', 1)),
  balanceChangeKey: kindOf(balanceChangeKey('', '')),
  providerAttempt: kindOf(providerAttemptKey('', 0, 0)),
  providerWait: kindOf(providerWaitKey('')),
  idempotencyRecord: kindOf(idempotencyKey('', '')),
  callsUnderWay: kindOf(inFlightKey('webhooks', '')),
  webhookHost: kindOf(webhookHostKey('', '')),
  gate: kindOf(gateKey('')),
  circuit: kindOf(circuitKey('')),
  waitingAccount: kindOf(waitingAccountKey('', '')),
  gateWaiter: kindOf(gateWaiterKey('', someone)),
  reconcilerRun: kindOf(RECONCILER_RUN_KEY),
  webhookAttempt: kindOf(webhookAttemptKey('', '', 1)),
  webhookAttemptsEnd: kindOf(webhookAttemptsEndKey('')),
  staffChange: kindOf(auditKey('')),
} as const;
/** An entity that this version knows. */
export type EntityName = keyof typeof NAMES;
const BY_KIND = new Map(Object.entries(NAMES).map(([name, kind]) => [kind, name as EntityName]));

/** The entity of an item, by its key; undefined for one that this version does not know. */
export const entityOf = (key: ItemKey): EntityName | undefined => BY_KIND.get(kindOf(key));

/** The name of an item's entity, or how its key begins where this version does not know it. */
export const entityLabel = (key: ItemKey): string => entityOf(key) ?? kindOf(key);
