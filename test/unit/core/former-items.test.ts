import { describe, expect, test } from '@jest/globals';
import { toAccount } from '../../../core/accounts/accounts.ts';
import { toApiKey } from '../../../core/accounts/api-keys.ts';
import { StoredAttempt } from '../../../core/deliveries/webhook-attempts.ts';
import { toEndUser } from '../../../core/end-users/end-users.ts';
import { toEndUserRemoval } from '../../../core/end-users/removals.ts';
import { BalanceChangeKey } from '../../../core/ledger/change-balance.ts';
import { LedgerEntry } from '../../../core/ledger/ledger.ts';
import { ModelSettings } from '../../../core/models/model-settings.ts';
import { ProviderAttempt } from '../../../core/provider-calls/provider-attempts.ts';
import { ProviderWait } from '../../../core/provider-calls/provider-waits.ts';
import { toDeletedRequest } from '../../../core/requests/deleted-requests.ts';
import { renderRecord } from '../../../core/requests/render-record.ts';
import { toRequest } from '../../../core/requests/requests.ts';
import type { StoredItem } from '../../../core/table/table.ts';
import { ENTITIES } from '../../releases/entities.ts';
import { findLastRelease } from '../../releases/last-release.ts';

/** How this release reads the items of each entity. */
const READERS: Record<string, (item: StoredItem) => object> = {
  account: toAccount,
  'api-key': toApiKey,
  'model-settings': (item) => ModelSettings.parse(item),
  request: toRequest,
  'deleted-request': toDeletedRequest,
  'end-user': toEndUser,
  'end-user-removal': toEndUserRemoval,
  'ledger-entry': (item) => LedgerEntry.parse(item),
  'balance-change-key': (item) => BalanceChangeKey.parse(item),
  'provider-attempt': (item) => ProviderAttempt.parse(item),
  'provider-wait': (item) => ProviderWait.parse(item),
  'webhook-attempt': (item) => StoredAttempt.parse(item),
};

/** Until the first release, there is nothing to read. */
const last = findLastRelease();
const sinceRelease = last ? describe : describe.skip;

const items = last?.items ?? [];
const of = (entity: string) => items.filter((one) => one.entity === entity);

sinceRelease('items of the last release', () => {
  test('are of every entity, and of requests in each status', () => {
    expect(Object.keys(READERS).toSorted()).toEqual(Object.keys(ENTITIES).toSorted());
    for (const entity of Object.keys(READERS)) expect([entity, of(entity).length]).not.toEqual([entity, 0]);
    const statuses = new Set(of('request').map(({ item }) => item.status));
    expect([...statuses].toSorted()).toEqual(['failed', 'processing', 'queued', 'succeeded']);
  });

  test.each(Object.keys(READERS))('are read, as they are stored: %s', (entity) => {
    for (const { item } of of(entity)) {
      const read = READERS[entity]?.(item) ?? {};

      // What is read is what is stored: no default, and nothing that this release does not know.
      expect(item).toMatchObject(read);
      expect(Object.keys(read)).not.toEqual([]);
    }
  });

  test.each(of('request').map(({ item }): [string, StoredItem] => [`${item.kind} ${item.status}`, item]))(
    'are shown by the API: %s',
    (_, item) => {
      const context = {
        now: new Date(String(item.createdAt)),
        publicBaseUrl: 'https://api',
        signUrl: String,
      };

      expect(renderRecord(toRequest(item), context)).toMatchObject({ status: item.status });
    },
  );
});
