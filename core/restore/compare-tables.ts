import { isDeepStrictEqual } from 'node:util';
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { readableEntries } from '../ledger/ledger.ts';
import type { LedgerReason } from '../ledger/ledger-reasons.ts';
import { findDeletionMarks } from '../requests/deleted-requests.ts';
import type { ItemKey } from '../table/keys.ts';
import { batchGet, type StoredItem, table, tableName } from '../table/table.ts';
import { type Instant, later, toEpochSeconds, toInstant } from '../time.ts';
import type { EntityCounts, Newest, TableComparison } from './comparison.ts';
import { type EntityName, entityLabel, entityOf } from './entities.ts';

/** All other changes of a balance are operators'. */
const REASONS_OF_REQUESTS: readonly string[] = ['generation', 'refund'] satisfies LedgerReason[];

const keyOf = ({ PK, SK }: StoredItem): ItemKey => ({ PK: String(PK), SK: String(SK) });
const textOf = (value: unknown): string => String(value ?? '');
const instantOf = (value: unknown): Instant | undefined => (typeof value === 'string' ? value : undefined);

/**
 * Access pattern 75: compares a restored table with the living one, which is the table in use. Reads both whole, strongly consistent, and each
 * restored item in the living table too. Writes to the living table meanwhile may or may not show. `said` is told how many items were read.
 */
export const compareTables = async (
  restored: string,
  now: Date,
  said: (items: number) => void = () => undefined,
): Promise<TableComparison> => {
  const comparing = new Comparing(now);
  let read = 0;
  const itemsOf = async function* (TableName: string): AsyncGenerator<StoredItem[]> {
    for await (const { Items = [] } of paginateScan({ client: table }, { TableName, ConsistentRead: true })) {
      yield Items;
      read += Items.length;
      said(read);
    }
  };
  for await (const items of itemsOf(restored)) {
    const livingItems = await batchGet(items.map(keyOf));
    for (const [index, item] of items.entries()) comparing.addRestored(item, livingItems[index]);
  }
  await comparing.explainGone();
  for await (const items of itemsOf(tableName())) for (const item of items) comparing.addLiving(item);
  return comparing.result();
};

/** Names an item that a restore must not lose, whatever its key: an account, an API key, an operator's change of a balance. */
const keptName = (item: StoredItem): string | undefined => {
  switch (entityOf(keyOf(item))) {
    case 'account':
      return textOf(item.accountId);
    case 'apiKey':
      return textOf(item.keyId);
    case 'ledgerEntry':
      return REASONS_OF_REQUESTS.includes(textOf(item.reason)) ? undefined : textOf(item.id);
    default:
      return undefined;
  }
};

/** A comparison under way. It holds what the tables differ in, and names of what a restore must not lose. */
class Comparing {
  private readonly nowSeconds: number;
  private readonly entities = new Map<string, EntityCounts>();
  private readonly newest: TableComparison['newest'] = {
    restored: { request: undefined, ledgerEntry: undefined },
    living: { request: undefined, ledgerEntry: undefined },
  };
  private readonly balances: TableComparison['balances'] = [];
  private readonly lost: TableComparison['lost'] = { accounts: [], keys: [], operatorChanges: [] };
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
  /** Names in the restored table. */
  private readonly kept = new Set<string | undefined>();
  private readonly goneRequests: StoredItem[] = [];
  private readonly goneEndUsers: StoredItem[] = [];
  /** The own ids of end-users with a request that was not deleted: such an end-user was not removed by the API. */
  private readonly withRequests = new Set<string>();

  constructor(now: Date) {
    this.nowSeconds = toEpochSeconds(toInstant(now));
  }

  addRestored(item: StoredItem, living: StoredItem | undefined): void {
    const counts = this.countsOf(item);
    counts.restored += 1;
    if (living === undefined) counts.gone += 1;
    else if (!isDeepStrictEqual(item, living)) counts.changed += 1;
    this.note(this.newest.restored, item);
    this.kept.add(keptName(item));
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

  addLiving(item: StoredItem): void {
    this.countsOf(item).living += 1;
    this.note(this.newest.living, item);
    const name = keptName(item);
    if (name === undefined || this.kept.has(name)) return;
    const entity: EntityName | undefined = entityOf(keyOf(item));
    if (entity === 'account') {
      this.lost.accounts.push(name);
      this.compareBalances(undefined, item);
    } else if (entity === 'apiKey') this.lost.keys.push({ keyId: name, accountId: textOf(item.accountId) });
    else this.lost.operatorChanges.push(...readableEntries([item]));
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

  result(): TableComparison {
    const { newest, balances, lost, comeBack, open, removals } = this;
    const entities = [...this.entities.values()]
      .map((counts) => ({ ...counts, added: counts.living - (counts.restored - counts.gone) }))
      .toSorted((a, b) => (a.entity < b.entity ? -1 : 1));
    return { entities, newest, balances, lost, comeBack, open, removals };
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
