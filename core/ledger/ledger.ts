import * as z from 'zod/mini';
import { type Account, findAccount, toAccount } from '../accounts/accounts.ts';
import { crossingOf, insertBalanceEventWrites } from '../accounts/balance-events.ts';
import type { EarnedWork } from '../concurrency/work-allowance.ts';
import { newLedgerEntryId } from '../ids.ts';
import { MAX_THOUSANDTHS, type Thousandths, toXTokens } from '../money.ts';
import { readableItems } from '../observability.ts';
import {
  accountKey,
  ledgerEntryKey,
  ledgerEntrySort,
  ledgerPartition,
  MAX_ENTRY_NUMBER,
} from '../table/keys.ts';
import { type Page, type PageRequest, pageOf } from '../table/pages.ts';
import { lastItems, putWrite, rangeQuery, type StoredItem, updateWrite } from '../table/table.ts';
import { isHeldByOther, type Refusal, type TransactItem } from '../table/transactions.ts';
import { later, toInstant } from '../time.ts';
import type { BalanceHistoryEntry } from './balance-answers.ts';
import { ENTRY_TYPES, LEDGER_REASONS, type LedgerReason } from './ledger-reasons.ts';

/** A ledger entry as stored. `number` counts the changes of the account's balance from 1. */
export const LedgerEntry = z.object({
  id: z.string(),
  accountId: z.string(),
  number: z.number(),
  type: z.enum(ENTRY_TYPES),
  /** A reason that only another release knows reads as an operator's. */
  reason: z.catch(z.enum(LEDGER_REASONS), 'admin_adjustment'),
  amountThousandths: z.number(),
  balanceAfterThousandths: z.number(),
  reference: z.string(),
  createdAt: z.string(),
  /** Of a debit or refund: the retention of the request after its end, by the setting at the creation. */
  retentionDays: z.optional(z.number()),
  /** Of a debit or refund: copied from the request, which may be removed since. The end-user's id, never the address. */
  model: z.optional(z.string()),
  endUserId: z.optional(z.string()),
  /** Of a debit: the API key that created the request. */
  keyId: z.optional(z.string()),
  /** Of a refund: the entry number of the debit, which names the key. */
  debitNumber: z.optional(z.number()),
});
export type LedgerEntry = z.infer<typeof LedgerEntry>;

const toLedgerEntry = (item: StoredItem): LedgerEntry => LedgerEntry.parse(item);

/** Stored entries in their order, without those that cannot be read. */
export const readableEntries = (items: readonly StoredItem[]): LedgerEntry[] =>
  readableItems(items, toLedgerEntry);

/** A ledger entry as the API shows it. */
export const renderLedgerEntry = (entry: LedgerEntry): BalanceHistoryEntry => ({
  id: entry.id,
  type: entry.type,
  reason: entry.reason,
  amount: toXTokens(entry.amountThousandths),
  balanceAfter: toXTokens(entry.balanceAfterThousandths),
  reference: entry.reference,
  createdAt: entry.createdAt,
});

/** A balance change: a positive amount is a credit, a negative amount a debit, never 0. An operator's credit is refused above `MAX_THOUSANDTHS`. */
export interface BalanceChange {
  amountThousandths: Thousandths;
  reason: LedgerReason;
  reference: string;
  /** Of a debit or refund: the retention of the request after its end. */
  retentionDays?: number | undefined;
  /** Of a debit or refund: what usage is grouped by. */
  usedBy?: Pick<LedgerEntry, 'model' | 'endUserId' | 'keyId' | 'debitNumber'> | undefined;
  /** Whether to refuse a blocked account or a balance below the debit. */
  guardFunds?: boolean;
  /** The entry's id, for a writer that must recognize its own entry; a new id by default. */
  entryId?: string;
  /** Of a debit: the account's allowance of work, increased by this creation. */
  earnedWork?: EarnedWork;
}

/** The account's state that a balance change expects to find. */
export type LedgerHead = Pick<
  Account,
  | 'accountId'
  | 'balanceThousandths'
  | 'ledgerEntries'
  | 'balanceUpdatedAt'
  | 'settingsVersion'
  | 'balanceWebhook'
>;

/** A planned balance change: the entry, the writes of balance and entry, and the writes of a balance event, none if the change causes no event. */
export interface PlannedChange {
  entry: LedgerEntry;
  writes: [TransactItem, TransactItem];
  eventId: string | undefined;
  eventWrites: TransactItem[];
}

/**
 * Access pattern 39: the two writes of a balance change: the account's balance and entry counter, and the
 * entry. Refused unless the ledger's head and the account's settings for debits are still those of `head`. Every change increments the counter,
 * so an equal counter means an equal balance, and no number is used twice.
 *
 * The entry's instant is `now` or the previous entry's, whichever is later: attempts and clocks differ, and
 * instants never decrease along the numbers.
 */
export const balanceChangeWrites = (head: LedgerHead, change: BalanceChange, now: Date): PlannedChange => {
  const entry = entryOfChange(head, change, now);
  const event = crossingOf(head, entry);
  return {
    entry,
    eventId: event?.eventId,
    eventWrites: event ? insertBalanceEventWrites(event) : [],
    writes: [
      balanceWrite(head, change, entry),
      putWrite(
        { ...ledgerEntryKey(head.accountId, entry.number), ...entry },
        { ConditionExpression: 'attribute_not_exists(PK)' },
      ),
    ],
  };
};

const entryOfChange = (head: LedgerHead, change: BalanceChange, now: Date): LedgerEntry => {
  const createdAt = later(toInstant(now), head.balanceUpdatedAt);
  return {
    id: change.entryId ?? newLedgerEntryId(new Date(createdAt)),
    accountId: head.accountId,
    number: head.ledgerEntries + 1,
    type: change.amountThousandths < 0 ? 'debit' : 'credit',
    reason: change.reason,
    amountThousandths: Math.abs(change.amountThousandths),
    balanceAfterThousandths: head.balanceThousandths + change.amountThousandths,
    reference: change.reference,
    createdAt,
    ...(change.retentionDays === undefined ? {} : { retentionDays: change.retentionDays }),
    ...change.usedBy,
  };
};

/** The write of an account's balance and entry counter. */
const balanceWrite = (head: LedgerHead, change: BalanceChange, entry: LedgerEntry): TransactItem => {
  const funds = change.guardFunds
    ? ' AND balanceThousandths >= :debit AND attribute_not_exists(blockedAt)'
    : '';
  const work = change.earnedWork ? ', earnedWork = :work' : '';
  const isLimited = change.amountThousandths > 0 && change.reason !== 'refund';
  const limit = isLimited ? ' AND balanceThousandths <= :most' : '';
  const version =
    head.settingsVersion === undefined
      ? 'attribute_not_exists(settingsVersion)'
      : 'settingsVersion = :version';
  return updateWrite(accountKey(head.accountId), {
    UpdateExpression: `SET balanceThousandths = :after, ledgerEntries = :number, balanceUpdatedAt = :now${work}`,
    ConditionExpression: `attribute_exists(PK) AND ledgerEntries = :expected AND ${version}${funds}${limit}`,
    ExpressionAttributeValues: {
      ':after': entry.balanceAfterThousandths,
      ':number': entry.number,
      ':expected': head.ledgerEntries,
      ':now': entry.createdAt,
      ...(head.settingsVersion !== undefined && { ':version': head.settingsVersion }),
      ...(change.guardFunds ? { ':debit': entry.amountThousandths } : {}),
      ...(change.earnedWork ? { ':work': change.earnedWork } : {}),
      ...(isLimited ? { ':most': MAX_THOUSANDTHS - change.amountThousandths } : {}),
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
};

/**
 * The account as another transaction left it, after the refusal of the account's write in a balance change; undefined when the account's write was
 * not refused. A conflict with a transaction that held the account also means that the head has moved, so the account is read anew.
 */
export const accountFoundInstead = async (
  accountId: string,
  refusal: Refusal | undefined,
): Promise<Account | undefined> => {
  if (refusal?.item) return toAccount(refusal.item);
  return isHeldByOther(refusal) ? findAccount(accountId) : undefined;
};

/**
 * Access pattern 40: a page of an account's ledger, newest first, strongly consistent. Entry numbers have no
 * gaps, so every page is a key range and costs the same. Later pages count back from `ledgerEntries`, the
 * account's counter.
 */
export const listLedgerEntries = async (
  accountId: string,
  request: PageRequest,
  ledgerEntries: number,
): Promise<Page<LedgerEntry>> => {
  const skipped = (request.page - 1) * request.pageSize;
  const newest = skipped === 0 ? MAX_ENTRY_NUMBER : ledgerEntries - skipped;
  if (newest < 1) return pageOf([], request, false);
  const query = rangeQuery(ledgerPartition(accountId), ledgerEntrySort(1), ledgerEntrySort(newest));
  const items = await lastItems(query, request.pageSize);
  const entries = readableEntries(items);
  const oldest = items.at(-1);
  return pageOf(entries, request, oldest !== undefined && oldest.SK !== ledgerEntrySort(1));
};
