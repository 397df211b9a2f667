/** Entities of the table: where their schema is, and how their items are told from others. */
interface Entity {
  /** The start of its items' sort keys. */
  sort: string;
  module: string;
  schema: string;
}

/** The entities whose schema a release exports. */
export const ENTITIES: Readonly<Record<string, Entity>> = {
  account: { sort: 'ACCOUNT', module: 'core/accounts/accounts.ts', schema: 'Account' },
  'api-key': { sort: 'KEY', module: 'core/accounts/api-keys.ts', schema: 'ApiKey' },
  'model-settings': { sort: 'MODEL#', module: 'core/models/model-settings.ts', schema: 'ModelSettings' },
  request: { sort: 'REQUEST', module: 'core/requests/request-rules.ts', schema: 'StoredRequest' },
  'deleted-request': {
    sort: 'DELETED#',
    module: 'core/requests/deleted-requests.ts',
    schema: 'DeletedRequest',
  },
  'end-user': { sort: 'END_USER#', module: 'core/end-users/end-users.ts', schema: 'EndUser' },
  'end-user-removal': { sort: 'REMOVAL#', module: 'core/end-users/removals.ts', schema: 'EndUserRemoval' },
  'ledger-entry': { sort: 'ENTRY#', module: 'core/ledger/ledger.ts', schema: 'LedgerEntry' },
  'balance-change-key': {
    sort: 'CHANGE#',
    module: 'core/ledger/change-balance.ts',
    schema: 'BalanceChangeKey',
  },
  'provider-attempt': {
    sort: 'ATTEMPT#',
    module: 'core/provider-calls/provider-attempts.ts',
    schema: 'ProviderAttempt',
  },
  'provider-wait': {
    sort: 'WAIT',
    module: 'core/provider-calls/provider-waits.ts',
    schema: 'ProviderWait',
  },
  'webhook-attempt': {
    sort: 'WEBHOOK#',
    module: 'core/deliveries/webhook-attempts.ts',
    schema: 'StoredAttempt',
  },
};

/** The entity of an item by its sort key; the sort key's first word for an entity without a schema of its own. */
export const entityOf = (SK: string): string => {
  const word = SK.replace(/#.*/s, '');
  // `KEY` is an API key, `KEY#…` an idempotency record; `ACCOUNT#…` queues at a route, and so does `QUEUED#…`.
  const isAlone = SK === word;
  const known = Object.entries(ENTITIES).find(([, { sort }]) =>
    sort.endsWith('#') ? SK.startsWith(sort) : isAlone && SK === sort,
  );
  return known?.[0] ?? (isAlone ? word.toLowerCase() : `${word.toLowerCase()}#`);
};
