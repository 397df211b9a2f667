import { isDeepStrictEqual } from 'node:util';
import type { putWebhookSecrets } from '../../core/accounts/accounts.ts';
import type { EndUserId } from '../../core/end-users/end-users.ts';
import { type LedgerEntry, readableEntries } from '../../core/ledger/ledger.ts';
import type { LedgerReason } from '../../core/ledger/ledger-reasons.ts';
import type { Thousandths } from '../../core/money.ts';
import { findDeletionMarks } from '../../core/requests/deleted-requests.ts';
import { entityOf, findCounterparts, scanTable } from '../../core/restore/table-items.ts';
import { type Instant, later, toEpochSeconds, toInstant } from '../../core/time.ts';

/** How many items of an entity two tables hold. */
interface EntityCounts {
  entity: string;
  restored: number;
  living: number;
  /** Only in the living table: written since, and lost by the restore. */
  added: number;
  /** Only in the restored one: removed since. */
  gone: number;
  /** In both, but not alike: the restore loses the later state. */
  changed: number;
}

/** The newest instants in a table; absent where it holds none. */
type Newest = { [entity in 'request' | 'ledgerEntry']?: Instant };

/** An account whose balances differ; undefined where a table has no such account. */
export interface BalanceDifference {
  accountId: string;
  restoredThousandths: Thousandths | undefined;
  livingThousandths: Thousandths | undefined;
}

/** Requests that are unfinished in the restored table, by what the living one says of them. */
interface OpenRequests {
  /** All of them. */
  requests: number;
  /** Their debits: given back when they are failed. */
  heldThousandths: Thousandths;
  /** Delivered since, though the restored ledger will refund them. */
  succeededSince: number;
  failedSince: number;
  deletedSince: number;
  unfinishedStill: number;
}

/**
 * Deletions, revocations, blocks and rotations in the living table since. They are repeated on the restored one. A later change for the better, such
 * as an unblocking, is not among them.
 */
export interface Removals {
  /** Requests that their owners deleted. */
  requests: { accountId: string; requestId: string }[];
  /** End-users that were removed. */
  endUsers: EndUserId[];
  /** Keys that were revoked, and when. */
  keys: { keyId: string; revokedAt: Instant }[];
  accountBlocks: { accountId: string; blockedAt: Instant }[];
  endUserBlocks: (EndUserId & { blockedAt: Instant })[];
  /** Accounts whose webhook secret was replaced. */
  webhookSecrets: ({ accountId: string } & Parameters<typeof putWebhookSecrets>[1])[];
}

/** What a restored table holds, beside the living one. */
export interface TableComparison {
  entities: EntityCounts[];
  newest: { restored: Newest; living: Newest };
  balances: BalanceDifference[];
  /** Accounts and keys that exist in the living table only, and operators' changes of balances in its ledgers only. */
  lost: { accounts: string[]; keys: { keyId: string; accountId: string }[]; operatorChanges: LedgerEntry[] };
  /** Accounts, and requests that were not deleted, that are in the restored table only: they come back. */
  comeBack: { accounts: string[]; requests: number };
  open: OpenRequests;
  removals: Removals;
}

/** An item as it is stored: a restored table may hold those of other versions. */
type Item = Record<string, unknown>;

/** All other changes of a balance are operators'. */
const REASONS_OF_REQUESTS: readonly string[] = ['generation', 'refund'] satisfies LedgerReason[];

const textOf = (value: unknown): string => String(value ?? '');
const endUserIdOf = ({ accountId, email }: Item): EndUserId => ({
  accountId: textOf(accountId),
  email: textOf(email),
});
const isBlockedSince = (item: Item, living: Item): boolean =>
  item.blockedAt === undefined && living.blockedAt !== undefined;
const isUnfinished = ({ status }: Item): boolean => status === 'queued' || status === 'processing';

/**
 * Compares a restored table with the living one, which is the table in use. Reads both whole, and each restored item in the living table
 * too. `said` gets how many items were read.
 */
export const compareTables = async (
  restored: string,
  now: Date,
  said: (items: number) => void = () => undefined,
): Promise<TableComparison> => {
  const comparing = new Comparing(now);
  let read = 0;
  for await (const items of scanTable(restored)) {
    const living = await findCounterparts(items);
    for (const [index, item] of items.entries()) comparing.addRestored(item, living[index]);
    read += items.length;
    said(read);
  }
  await comparing.explainGone();
  for await (const items of scanTable()) {
    for (const item of items) comparing.addLiving(item);
    read += items.length;
    said(read);
  }
  return comparing.result();
};

/** Names an item that a restore must not lose, whatever its key: an account, an API key, an operator's change of a balance. */
const keptName = (item: Item): string | undefined => {
  switch (entityOf(item)) {
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
  private readonly found: Omit<TableComparison, 'entities'> = {
    newest: { restored: {}, living: {} },
    balances: [],
    lost: { accounts: [], keys: [], operatorChanges: [] },
    comeBack: { accounts: [], requests: 0 },
    open: {
      ...{ requests: 0, heldThousandths: 0 },
      ...{ succeededSince: 0, failedSince: 0, deletedSince: 0, unfinishedStill: 0 },
    },
    removals: {
      ...{ requests: [], endUsers: [], keys: [] },
      ...{ accountBlocks: [], endUserBlocks: [], webhookSecrets: [] },
    },
  };
  /** Names in the restored table. */
  private readonly kept = new Set<string | undefined>();
  private readonly goneRequests: Item[] = [];
  private readonly goneEndUsers: Item[] = [];
  /** The own ids of end-users with a request that was not deleted: such an end-user was not removed by the API. */
  private readonly withRequests = new Set<string>();

  constructor(now: Date) {
    this.nowSeconds = toEpochSeconds(toInstant(now));
  }

  addRestored(item: Item, living: Item | undefined): void {
    const counts = this.countsOf(item);
    counts.restored += 1;
    if (living === undefined) counts.gone += 1;
    else if (!isDeepStrictEqual(item, living)) counts.changed += 1;
    this.record(this.found.newest.restored, item);
    this.kept.add(keptName(item));
    const entity = entityOf(item);
    if (entity === 'account') this.compareAccounts(item, living);
    if (entity === 'request') this.compareRequests(item, living);
    if (entity === 'endUser') this.compareEndUsers(item, living);
    if (entity === 'apiKey' && item.revokedAt === undefined && living?.revokedAt !== undefined) {
      const revokedAt = textOf(living.revokedAt);
      this.found.removals.keys.push({ keyId: textOf(item.keyId), revokedAt });
    }
  }

  addLiving(item: Item): void {
    this.countsOf(item).living += 1;
    this.record(this.found.newest.living, item);
    const name = keptName(item);
    if (name === undefined || this.kept.has(name)) return;
    const { lost } = this.found;
    const entity = entityOf(item);
    if (entity === 'account') {
      lost.accounts.push(name);
      this.compareBalances(undefined, item);
    } else if (entity === 'apiKey') lost.keys.push({ keyId: name, accountId: textOf(item.accountId) });
    else lost.operatorChanges.push(...readableEntries([item]));
  }

  /** Separates requests that their owner deleted, which left a mark in the current table, from requests lost in the restore. */
  async explainGone(): Promise<void> {
    const { removals, comeBack, open } = this.found;
    const ids = this.goneRequests.map((item) => ({
      accountId: textOf(item.accountId),
      requestId: textOf(item.requestId),
    }));
    const marks = await findDeletionMarks(ids);
    for (const [index, item] of this.goneRequests.entries()) {
      const id = ids[index];
      if (marks[index] !== undefined && id) {
        removals.requests.push(id);
        if (isUnfinished(item)) open.deletedSince += 1;
        continue;
      }
      // DynamoDB removes it from the restored table as well.
      if (Number(item.ttl ?? Number.POSITIVE_INFINITY) <= this.nowSeconds) continue;
      comeBack.requests += 1;
      this.withRequests.add(textOf(item.endUserId));
    }
    for (const item of this.goneEndUsers) {
      if (!this.withRequests.has(textOf(item.endUserId))) removals.endUsers.push(endUserIdOf(item));
    }
  }

  result(): TableComparison {
    const entities = [...this.entities.values()]
      .map((counts) => ({ ...counts, added: counts.living - (counts.restored - counts.gone) }))
      .toSorted((a, b) => (a.entity < b.entity ? -1 : 1));
    return { entities, ...this.found };
  }

  private countsOf(item: Item): EntityCounts {
    const entity = entityOf(item);
    const none: EntityCounts = { entity, restored: 0, living: 0, added: 0, gone: 0, changed: 0 };
    const counts = this.entities.get(entity) ?? none;
    this.entities.set(entity, counts);
    return counts;
  }

  private record(newest: Newest, item: Item): void {
    const entity = entityOf(item);
    const createdAt = textOf(item.createdAt);
    if (entity === 'request') newest.request = later(createdAt, newest.request ?? '');
    if (entity === 'ledgerEntry') newest.ledgerEntry = later(createdAt, newest.ledgerEntry ?? '');
  }

  private compareAccounts(item: Item, living: Item | undefined): void {
    const { removals, comeBack } = this.found;
    const accountId = textOf(item.accountId);
    this.compareBalances(item, living);
    if (living === undefined) {
      comeBack.accounts.push(accountId);
      return;
    }
    if (isBlockedSince(item, living)) {
      removals.accountBlocks.push({ accountId, blockedAt: textOf(living.blockedAt) });
    }
    if (item.webhookSecret !== living.webhookSecret) {
      const { webhookSecret, previousWebhookSecret: previous, previousValidUntil: until } = living;
      removals.webhookSecrets.push({
        accountId,
        webhookSecret: textOf(webhookSecret),
        ...(previous !== undefined && { previousWebhookSecret: textOf(previous) }),
        ...(until !== undefined && { previousValidUntil: textOf(until) }),
      });
    }
  }

  private compareBalances(item: Item | undefined, living: Item | undefined): void {
    const [restored, now] = [item?.balanceThousandths, living?.balanceThousandths];
    if (restored === now) return;
    this.found.balances.push({
      accountId: textOf((item ?? living)?.accountId),
      restoredThousandths: restored === undefined ? undefined : Number(restored),
      livingThousandths: now === undefined ? undefined : Number(now),
    });
  }

  private compareRequests(item: Item, living: Item | undefined): void {
    if (living === undefined) this.goneRequests.push(item);
    else this.withRequests.add(textOf(item.endUserId));
    if (!isUnfinished(item)) return;
    const { open } = this.found;
    open.requests += 1;
    open.heldThousandths += Number(item.debitThousandths ?? 0);
    if (living === undefined) return;
    if (living.status === 'succeeded') open.succeededSince += 1;
    else if (living.status === 'failed') open.failedSince += 1;
    else open.unfinishedStill += 1;
  }

  private compareEndUsers(item: Item, living: Item | undefined): void {
    const { removals } = this.found;
    if (living === undefined) this.goneEndUsers.push(item);
    // Since the restore point, another end-user took the address or this end-user's removal began, which removes its
    // requests too.
    else if (living.endUserId !== item.endUserId || living.removalId !== undefined) {
      removals.endUsers.push(endUserIdOf(item));
    } else if (isBlockedSince(item, living)) {
      removals.endUserBlocks.push({ ...endUserIdOf(item), blockedAt: textOf(living.blockedAt) });
    }
  }
}
