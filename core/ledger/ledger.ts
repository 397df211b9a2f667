import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { type Account, findAccount, getAccount, toAccount } from '../accounts/accounts.ts';
import { crossingOf, insertBalanceEventWrite } from '../accounts/balance-events.ts';
import type { EarnedWork } from '../concurrency/work-allowance.ts';
import { ConflictError } from '../errors.ts';
import { newLedgerEntryId } from '../ids.ts';
import { MAX_THOUSANDTHS, type Thousandths, toXTokens } from '../money.ts';
import { readableItems } from '../readable.ts';
import {
  accountKey,
  ledgerEntryKey,
  ledgerEntrySort,
  ledgerPartition,
  MAX_ENTRY_NUMBER,
} from '../table/keys.ts';
import { findOutcome } from '../table/outcomes.ts';
import { type Page, type PageRequest, pageOf } from '../table/pages.ts';
import { type StoredItem, table, tableName } from '../table/table.ts';
import {
  type Beside,
  heldElsewhere,
  type Refusal,
  type TransactItem,
  transact,
} from '../table/transactions.ts';
import { later, toInstant } from '../time.ts';
import type { BalanceHistoryEntry } from './balance-answers.ts';
import { findEntryNumberOfKey, insertBalanceChangeKeyWrite } from './balance-change-keys.ts';
import { ENTRY_TYPES, LEDGER_REASONS, type LedgerReason } from './ledger-reasons.ts';

/** A ledger entry as stored. `number` counts the changes of the account's balance from 1. */
export const LedgerEntry = z.object({
  id: z.string(),
  accountId: z.string(),
  number: z.number(),
  type: z.enum(ENTRY_TYPES),
  /** One of another version reads as an operator's. */
  reason: z.catch(z.enum(LEDGER_REASONS), 'admin_adjustment'),
  amountThousandths: z.number(),
  balanceAfterThousandths: z.number(),
  reference: z.string(),
  createdAt: z.string(),
  /** Of a debit or refund: how long its request is kept after its end, by the setting at the time. */
  retentionDays: z.optional(z.number()),
  /** Of a debit or refund: as in its request, which may be gone. The end-user by their own id, never by address. */
  model: z.optional(z.string()),
  endUserId: z.optional(z.string()),
  /** Of a debit: the API key that created the request. */
  keyId: z.optional(z.string()),
  /** Of a refund: the number of its debit, which has the key. */
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

/** A balance change: a positive amount is a credit, a negative one a debit, never 0. */
export interface BalanceChange {
  amountThousandths: Thousandths;
  reason: LedgerReason;
  reference: string;
  /** Of a debit or refund: how long its request is kept after its end. */
  retentionDays?: number | undefined;
  /** Of a debit or refund: what usage is told by. */
  usedBy?: Pick<LedgerEntry, 'model' | 'endUserId' | 'keyId' | 'debitNumber'> | undefined;
  /** Whether to refuse a blocked account or a balance below the debit. */
  guardFunds?: boolean;
  /** Of a credit by an operator: whether to refuse a balance above `MAX_THOUSANDTHS`. */
  guardLimit?: boolean;
  /** The entry's id, for a writer that must recognize its entry; otherwise a new one. */
  entryId?: string;
  /** Of a debit: the account's allowance of work with what this creation earns. */
  earnedWork?: EarnedWork;
}

/** The account's state that a balance change expects to find. */
export type LedgerHead = Pick<
  Account,
  'accountId' | 'balanceThousandths' | 'ledgerEntries' | 'balanceUpdatedAt' | 'terms' | 'balanceWebhook'
>;

/** A balance change as planned: its entry, the two writes that make it, and those for the event of its account's webhook, if it has one. */
export interface PlannedChange {
  entry: LedgerEntry;
  writes: [TransactItem, TransactItem];
  eventId: string | undefined;
  eventWrites: TransactItem[];
}

/**
 * Access pattern 63: the two writes of a balance change: the account's balance and entry counter, and the
 * entry. Refused unless the ledger's head is still `head`: every change increments the counter, so an equal
 * counter means an equal balance, and no number is used twice. Nor have its terms changed since.
 *
 * The entry's instant is `now` or the previous entry's, whichever is later: attempts and clocks differ, and
 * instants never decrease along the numbers.
 */
export const balanceChangeWrites = (head: LedgerHead, change: BalanceChange, now: Date): PlannedChange => {
  const createdAt = later(toInstant(now), head.balanceUpdatedAt);
  const entry: LedgerEntry = {
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
  const funds = change.guardFunds
    ? ' AND balanceThousandths >= :debit AND attribute_not_exists(blockedAt)'
    : '';
  const work = change.earnedWork ? ', earnedWork = :work' : '';
  const limit = change.guardLimit ? ' AND balanceThousandths <= :most' : '';
  const terms = head.terms === undefined ? 'attribute_not_exists(terms)' : 'terms = :terms';
  const event = crossingOf(head, entry);
  return {
    entry,
    eventId: event?.eventId,
    eventWrites: event ? [insertBalanceEventWrite(event)] : [],
    writes: [
      {
        Update: {
          TableName: tableName(),
          Key: accountKey(head.accountId),
          UpdateExpression: `SET balanceThousandths = :after, ledgerEntries = :number, balanceUpdatedAt = :now${work}`,
          ConditionExpression: `attribute_exists(PK) AND ledgerEntries = :expected AND ${terms}${funds}${limit}`,
          ExpressionAttributeValues: {
            ':after': entry.balanceAfterThousandths,
            ':number': entry.number,
            ':expected': head.ledgerEntries,
            ':now': createdAt,
            ...(head.terms !== undefined && { ':terms': head.terms }),
            ...(change.guardFunds ? { ':debit': entry.amountThousandths } : {}),
            ...(change.earnedWork ? { ':work': change.earnedWork } : {}),
            ...(change.guardLimit ? { ':most': MAX_THOUSANDTHS - change.amountThousandths } : {}),
          },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      },
      {
        Put: {
          TableName: tableName(),
          Item: { ...ledgerEntryKey(head.accountId, entry.number), ...entry },
          ConditionExpression: 'attribute_not_exists(PK)',
        },
      },
    ],
  };
};

/**
 * The account as it is after the write at `index` refused a balance change because its head had moved, or another transaction
 * held it; undefined for another refusal. A head that was held has moved: trying it again would only be refused.
 */
export const accountFoundInstead = async (
  accountId: string,
  refusals: readonly Refusal[],
  index: number,
): Promise<Account | undefined> => {
  const item = refusals[index]?.item;
  if (item) return toAccount(item);
  return heldElsewhere(refusals, index) ? findAccount(accountId) : undefined;
};

/** A balance change by an operator. */
export interface OperatorChange {
  amountThousandths: Thousandths;
  reason: 'topup' | 'admin_adjustment';
  reference: string;
  /** Any text. Given again in the same account, it makes no second change. */
  idempotencyKey?: string | undefined;
  /** The id of the entry that it makes: with another, an earlier change under the same key made the entry. */
  entryId?: string;
  beside?: Beside;
}

/**
 * Access pattern 64: applies an operator's balance change once and returns its entry; a change repeated under
 * its idempotency key returns the first entry.
 *
 * Throws `NotFoundError` for an unknown account. Throws `ConflictError` if the balance would fall below 0, if
 * a credit would raise it above `MAX_THOUSANDTHS`, or if the key made a change of another amount or kind.
 * Throws `OutcomeUnknownError` when the answer was lost and the entry is not in the ledger (yet).
 */
export const changeBalance = async (
  accountId: string,
  { idempotencyKey, beside = [], entryId: givenId, ...change }: OperatorChange,
  now: Date,
): Promise<LedgerEntry> => {
  let head: LedgerHead = await getAccount(accountId);
  const guardLimit = change.amountThousandths > 0;
  const entryId = givenId ?? newLedgerEntryId(now);
  let attempted: LedgerEntry | undefined;
  let found: LedgerEntry | undefined;
  // All attempts have one id, and a number is only left once it is taken: so the place of the last attempt shows
  // whether any of them was committed.
  const findMade = async (): Promise<LedgerEntry | undefined> => {
    if (idempotencyKey !== undefined) return findEntryOfKey(accountId, idempotencyKey, change);
    const entry = attempted && (await findEntry(accountId, attempted.number));
    return entry?.id === entryId ? entry : undefined;
  };
  try {
    await transact(async (refusals) => {
      found = attempted && (await findMade());
      if (found) return [];
      head = (await accountFoundInstead(accountId, refusals, 0)) ?? head;
      const problem = balanceProblem(head, change);
      if (problem !== undefined) {
        found = await findMade();
        if (found) return [];
        throw new ConflictError(problem);
      }
      const { entry, ...planned } = balanceChangeWrites(head, { ...change, entryId, guardLimit }, now);
      const writes = [...planned.writes, ...planned.eventWrites];
      attempted = entry;
      if (idempotencyKey === undefined) return [...writes, ...beside];
      return [...writes, insertBalanceChangeKeyWrite(accountId, idempotencyKey, entry.number), ...beside];
    });
  } catch (error) {
    if (!attempted || error instanceof ConflictError) throw error;
    found = await findOutcome(error, findMade, outcomeUnknown(entryId, idempotencyKey));
  }
  const made = found ?? attempted;
  if (!made) throw new Error('The balance change was committed without an entry.');
  return made;
};

/** Why a change cannot be applied to a balance; undefined when it can. */
const balanceProblem = (
  { balanceThousandths }: LedgerHead,
  { amountThousandths }: Pick<BalanceChange, 'amountThousandths'>,
): string | undefined => {
  const after = balanceThousandths + amountThousandths;
  if (after < 0) return `The balance is ${toXTokens(balanceThousandths)}: it cannot go below 0.`;
  if (amountThousandths < 0 || after <= MAX_THOUSANDTHS) return undefined;
  return `The balance is ${toXTokens(balanceThousandths)}: an operator cannot raise it above ${toXTokens(MAX_THOUSANDTHS)}.`;
};

/** The entry that an idempotency key made. Throws `ConflictError` when it is of another amount or kind. */
const findEntryOfKey = async (
  accountId: string,
  idempotencyKey: string,
  { amountThousandths, reason }: Pick<OperatorChange, 'amountThousandths' | 'reason'>,
): Promise<LedgerEntry | undefined> => {
  const number = await findEntryNumberOfKey(accountId, idempotencyKey);
  const entry = number === undefined ? undefined : await findEntry(accountId, number);
  if (!entry) return undefined;
  const made = entry.type === 'debit' ? -entry.amountThousandths : entry.amountThousandths;
  if (made === amountThousandths && entry.reason === reason) return entry;
  throw new ConflictError(`This idempotency key was used for another change: entry ${entry.id}.`);
};

const findEntry = async (accountId: string, number: number): Promise<LedgerEntry | undefined> => {
  const { Item } = await table.send(
    new GetCommand({
      TableName: tableName(),
      Key: ledgerEntryKey(accountId, number),
      ConsistentRead: true,
    }),
  );
  return Item && toLedgerEntry(Item);
};

const outcomeUnknown = (entryId: string, idempotencyKey: string | undefined): string => {
  const remedy =
    idempotencyKey === undefined
      ? `Wait a minute, then repeat it only if the account's history has no entry ${entryId}.`
      : 'Repeat it with the same idempotency key: it is made once.';
  return `No answer came, so the balance may have changed or not. ${remedy}`;
};

/**
 * Access pattern 65: a page of an account's ledger, newest first, strongly consistent. Entry numbers have no
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
  const { Items = [] } = await table.send(
    new QueryCommand({
      TableName: tableName(),
      KeyConditionExpression: 'PK = :ledger AND SK BETWEEN :first AND :newest',
      ExpressionAttributeValues: {
        ':ledger': ledgerPartition(accountId),
        ':first': ledgerEntrySort(1),
        ':newest': ledgerEntrySort(newest),
      },
      ScanIndexForward: false,
      Limit: request.pageSize,
      ConsistentRead: true,
    }),
  );
  const entries = readableEntries(Items);
  const oldest = Items.at(-1);
  return pageOf(entries, request, oldest !== undefined && oldest.SK !== ledgerEntrySort(1));
};
