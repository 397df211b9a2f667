import { isDeepStrictEqual } from 'node:util';
import { readableEntries } from '../ledger/ledger.ts';
import type { LedgerReason } from '../ledger/ledger-reasons.ts';
import { findDeletionMarks } from '../requests/deleted-requests.ts';
import { batchGetAll } from '../table/batches.ts';
import type { ItemKey } from '../table/keys.ts';
import { scanPages } from '../table/scans.ts';
import type { StoredItem } from '../table/table.ts';
import { addSeconds, type Instant, later, toEpochSeconds, toInstant } from '../time.ts';
import type { EntityCounts, Newest, TableComparison } from './comparison.ts';
import { type EntityName, entityLabel, entityOf } from './entities.ts';
import { onTable } from './on-table.ts';

/** Far more than the clocks behind `createdAt` differ from that of the table. */
const CLOCK_MARGIN_SECONDS = 600;

/** All other changes of a balance are operators'. */
const REASONS_OF_REQUESTS: readonly string[] = ['generation', 'refund'] satisfies LedgerReason[];

const keyOf = ({ PK, SK }: StoredItem): ItemKey => ({ PK: String(PK), SK: String(SK) });
const textOf = (value: unknown): string => String(value ?? '');
const instantOf = (value: unknown): Instant | undefined => (typeof value === 'string' ? value : undefined);

/**
 * Access pattern 119: compares a restored table with the living one, of which the restored one shows the state `at` an instant. Reads both tables whole,
 * and each restored item in the living table too. Writes to the living table meanwhile may or may not show. `said` is told how many items were read.
 */
export const compareTables = (
  tables: { restored: string; living: string },
  at: Instant,
  now: Date,
  said: (items: number) => void = () => undefined,
): Promise<TableComparison> =>
  onTable(tables.living, async () => {
    const comparing = new Comparing(at, now);
    let read = 0;
    for await (const items of scanPages(tables.restored)) {
      comparing.addRestored(items, await batchGetAll(items.map(keyOf)));
      read += items.length;
      said(read);
    }
    await comparing.explainGone();
    for await (const items of scanPages(tables.living)) {
      comparing.addLiving(items);
      read += items.length;
      said(read);
    }
    const { candidates } = comparing;
    const alsoRestored = await onTable(tables.restored, () => batchGetAll(candidates.map(keyOf)));
    return comparing.result(candidates.filter((_, index) => alsoRestored[index] === undefined));
  });

/** A comparison under way. It holds what the tables differ in, not what they have in common. */
class Comparing {
  /** Items of the living table that may be lost, and of which each one matters. */
  readonly candidates: StoredItem[] = [];
  private readonly at: Instant;
  private readonly nowSeconds: number;
  private readonly entities = new Map<string, EntityCounts>();
  private readonly newest: TableComparison['newest'] = {
    restored: { request: undefined, ledgerEntry: undefined },
    living: { request: undefined, ledgerEntry: undefined },
  };
  private readonly balances: TableComparison['balances'] = [];
  private readonly comeBack: TableComparison['comeBack'] = { accounts: [], requests: 0 };
  private readonly open: TableComparison['open'] = {
    requests: 0,
    heldThousandths: 0,
    succeededSince: 0,
    failedSince: 0,
    deletedSince: 0,
    unfinishedStill: 0,
  };
  private readonly removals: TableComparison['removals'] = {
    requests: [],
    endUsers: [],
    keys: [],
    accountBlocks: [],
    endUserBlocks: [],
    webhookSecrets: [],
  };
  private readonly goneRequests: StoredItem[] = [];
  private readonly goneEndUsers: StoredItem[] = [];
  /** The own ids of end-users with a request that was not deleted: such an end-user was not removed by the API. */
  private readonly withRequests = new Set<string>();

  constructor(at: Instant, now: Date) {
    this.at = at;
    this.nowSeconds = toEpochSeconds(toInstant(now));
  }

  addRestored(items: readonly StoredItem[], livingItems: readonly (StoredItem | undefined)[]): void {
    for (const [index, item] of items.entries()) {
      const living = livingItems[index];
      const counts = this.countsOf(item);
      counts.restored += 1;
      if (living === undefined) counts.gone += 1;
      else if (!isDeepStrictEqual(item, living)) counts.changed += 1;
      this.note(this.newest.restored, item);
      this.compareItem(item, living);
    }
  }

  addLiving(items: readonly StoredItem[]): void {
    for (const item of items) {
      this.countsOf(item).living += 1;
      this.note(this.newest.living, item);
      const entity = entityOf(keyOf(item));
      const isOfInterest =
        entity === 'account' ||
        entity === 'apiKey' ||
        (entity === 'ledgerEntry' && !REASONS_OF_REQUESTS.includes(textOf(item.reason)));
      const since = addSeconds(this.at, -CLOCK_MARGIN_SECONDS);
      if (isOfInterest && textOf(item.createdAt) >= since) this.candidates.push(item);
    }
  }

  /** Tells requests that their owners deleted, which left a mark in the living table, from others that are gone. */
  async explainGone(): Promise<void> {
    const ids = this.goneRequests.map((item) => ({
      accountId: textOf(item.accountId),
      requestId: textOf(item.requestId),
    }));
    const marks = await findDeletionMarks(ids);
    for (const [index, item] of this.goneRequests.entries()) {
      const id = ids[index];
      if (marks[index] !== undefined && id) {
        this.removals.requests.push(id);
        if (isUnfinished(item)) this.open.deletedSince += 1;
        continue;
      }
      // DynamoDB removes it from the restored table as well.
      if (Number(item.ttl ?? Number.POSITIVE_INFINITY) <= this.nowSeconds) continue;
      this.comeBack.requests += 1;
      this.withRequests.add(textOf(item.endUserId));
    }
    for (const item of this.goneEndUsers) {
      if (this.withRequests.has(textOf(item.endUserId))) continue;
      this.removals.endUsers.push({ accountId: textOf(item.accountId), email: textOf(item.email) });
    }
  }

  result(lost: readonly StoredItem[]): TableComparison {
    const lostOf = (entity: EntityName): StoredItem[] =>
      lost.filter((item) => entityOf(keyOf(item)) === entity);
    for (const item of lostOf('account')) this.compareBalances(undefined, item);
    return {
      entities: [...this.entities.values()]
        .map((counts) => ({ ...counts, added: counts.living - (counts.restored - counts.gone) }))
        .toSorted((a, b) => (a.entity < b.entity ? -1 : 1)),
      newest: this.newest,
      balances: this.balances,
      lost: {
        accounts: lostOf('account').map(({ accountId }) => textOf(accountId)),
        keys: lostOf('apiKey').map(({ keyId, accountId }) => ({
          keyId: textOf(keyId),
          accountId: textOf(accountId),
        })),
        operatorChanges: readableEntries(lostOf('ledgerEntry')),
      },
      comeBack: this.comeBack,
      open: this.open,
      removals: this.removals,
    };
  }

  private countsOf(item: StoredItem): EntityCounts {
    const entity = entityLabel(keyOf(item));
    const found = this.entities.get(entity);
    if (found) return found;
    const counts = { entity, restored: 0, living: 0, added: 0, gone: 0, changed: 0 };
    this.entities.set(entity, counts);
    return counts;
  }

  private note(newest: Newest, item: StoredItem): void {
    const entity = entityOf(keyOf(item));
    if (entity !== 'request' && entity !== 'ledgerEntry') return;
    const createdAt = textOf(item.createdAt);
    newest[entity] = later(newest[entity] ?? createdAt, createdAt);
  }

  private compareItem(item: StoredItem, living: StoredItem | undefined): void {
    switch (entityOf(keyOf(item))) {
      case 'account':
        this.compareAccounts(item, living);
        break;
      case 'apiKey':
        if (item.revokedAt === undefined && living?.revokedAt !== undefined) {
          this.removals.keys.push({ keyId: textOf(item.keyId), revokedAt: textOf(living.revokedAt) });
        }
        break;
      case 'request':
        this.compareRequests(item, living);
        break;
      case 'endUser':
        this.compareEndUsers(item, living);
        break;
    }
  }

  private compareAccounts(item: StoredItem, living: StoredItem | undefined): void {
    const accountId = textOf(item.accountId);
    this.compareBalances(item, living);
    if (living === undefined) {
      this.comeBack.accounts.push(accountId);
      return;
    }
    const { blockedAt, webhookSecret, previousWebhookSecret, previousValidUntil } = living;
    if (item.blockedAt === undefined && blockedAt !== undefined) {
      this.removals.accountBlocks.push({ accountId, blockedAt: textOf(blockedAt) });
    }
    if (item.webhookSecret !== webhookSecret) {
      const previous = instantOf(previousWebhookSecret);
      const until = instantOf(previousValidUntil);
      this.removals.webhookSecrets.push({
        accountId,
        webhookSecret: textOf(webhookSecret),
        ...(previous !== undefined && { previousWebhookSecret: previous }),
        ...(until !== undefined && { previousValidUntil: until }),
      });
    }
  }

  private compareBalances(item: StoredItem | undefined, living: StoredItem | undefined): void {
    const [restored, now] = [item?.balanceThousandths, living?.balanceThousandths];
    if (restored === now) return;
    this.balances.push({
      accountId: textOf((item ?? living)?.accountId),
      restoredThousandths: restored === undefined ? undefined : Number(restored),
      livingThousandths: now === undefined ? undefined : Number(now),
    });
  }

  private compareRequests(item: StoredItem, living: StoredItem | undefined): void {
    if (living === undefined) this.goneRequests.push(item);
    else this.withRequests.add(textOf(item.endUserId));
    if (!isUnfinished(item)) return;
    this.open.requests += 1;
    this.open.heldThousandths += Number(item.debitThousandths ?? 0);
    if (living === undefined) return;
    if (living.status === 'succeeded') this.open.succeededSince += 1;
    else if (living.status === 'failed') this.open.failedSince += 1;
    else this.open.unfinishedStill += 1;
  }

  private compareEndUsers(item: StoredItem, living: StoredItem | undefined): void {
    const id = { accountId: textOf(item.accountId), email: textOf(item.email) };
    // Another end-user has the address since, or this one is being removed: its requests go with it.
    if (living !== undefined && (living.endUserId !== item.endUserId || living.removalId !== undefined)) {
      this.removals.endUsers.push(id);
    } else if (living === undefined) {
      this.goneEndUsers.push(item);
    } else if (item.blockedAt === undefined && living.blockedAt !== undefined) {
      this.removals.endUserBlocks.push({ ...id, blockedAt: textOf(living.blockedAt) });
    }
  }
}

const isUnfinished = ({ status }: StoredItem): boolean => status === 'queued' || status === 'processing';
