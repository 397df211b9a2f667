import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { getAccount } from '../accounts/accounts.ts';
import { ConflictError } from '../errors.ts';
import { newLedgerEntryId } from '../ids.ts';
import { MAX_THOUSANDTHS, type Thousandths, toXTokens } from '../money.ts';
import { balanceChangeKey, type ItemKey } from '../table/keys.ts';
import { findOutcome } from '../table/outcomes.ts';
import { getItem, putWrite } from '../table/table.ts';
import { type ExtraWrites, type TransactItem, transact } from '../table/transactions.ts';
import { accountFoundInstead, balanceChangeWrites, type LedgerEntry, type LedgerHead } from './ledger.ts';
import { findLedgerEntries } from './ledger-entries.ts';

/** A balance change by an operator. */
export interface OperatorChange {
  amountThousandths: Thousandths;
  reason: 'topup' | 'admin_adjustment';
  reference: string;
  /** Any text. Given again in the same account, it makes no second change. */
  idempotencyKey?: string | undefined;
  /** The id of the new entry. A returned entry with another id was made by an earlier change under the same key. */
  entryId?: string;
  extraWrites?: ExtraWrites;
}

/**
 * Access pattern 41: applies an operator's balance change once and returns its entry; a change repeated under its idempotency key
 * returns the first entry.
 *
 * Throws `NotFoundError` for an unknown account. Throws `ConflictError` if the balance would fall below 0, if
 * a credit would raise it above `MAX_THOUSANDTHS`, or if the key made a change of another amount or kind.
 * Throws `OutcomeUnknownError` when the answer was lost and the entry is not in the ledger (yet).
 */
export const changeBalance = async (
  accountId: string,
  { idempotencyKey, extraWrites = [], entryId: givenId, ...change }: OperatorChange,
  now: Date,
): Promise<LedgerEntry> => {
  const entryId = givenId ?? newLedgerEntryId(now);
  let head: LedgerHead = await getAccount(accountId);
  let attempted: LedgerEntry | undefined;
  let found: LedgerEntry | undefined;
  const findMade = () =>
    findMadeEntry(accountId, change, { idempotencyKey, entryId, number: attempted?.number });
  try {
    await transact(async (refusals) => {
      found = attempted && (await findMade());
      if (found) return [];
      head = (await accountFoundInstead(accountId, refusals[0])) ?? head;
      const problem = balanceProblem(head, change);
      if (problem !== undefined) {
        found = await findMade();
        if (found) return [];
        throw new ConflictError(problem);
      }
      const { entry, writes, eventWrites } = balanceChangeWrites(head, { ...change, entryId }, now);
      attempted = entry;
      return [...writes, ...eventWrites, ...extraWrites, ...keyWrites(entry, idempotencyKey)];
    });
  } catch (error) {
    if (!attempted || error instanceof ConflictError) throw error;
    found = await findOutcome(error, findMade, outcomeUnknown(entryId, idempotencyKey));
  }
  const made = found ?? attempted;
  if (!made) throw new Error('The balance change was committed without an entry.');
  return made;
};

/**
 * The entry that an earlier attempt or call made for a change, by its idempotency key or, without a key, by the entry number that the last attempt
 * tried. All attempts share one entry id, and move on to the next number only when the number is taken. So the last number shows
 * whether any attempt was committed.
 */
const findMadeEntry = async (
  accountId: string,
  change: Pick<OperatorChange, 'amountThousandths' | 'reason'>,
  made: { idempotencyKey: string | undefined; entryId: string; number: number | undefined },
): Promise<LedgerEntry | undefined> => {
  const { idempotencyKey, entryId, number } = made;
  if (idempotencyKey !== undefined) return findEntryOfKey(accountId, idempotencyKey, change);
  const entry = number === undefined ? undefined : await findEntry(accountId, number);
  return entry?.id === entryId ? entry : undefined;
};

/** The write that remembers for ever which entry an idempotency key made; none without a key. */
const keyWrites = (
  { accountId, number }: LedgerEntry,
  idempotencyKey: string | undefined,
): TransactItem[] => {
  if (idempotencyKey === undefined) return [];
  const record = { ...idempotentChangeKey(accountId, idempotencyKey), accountId, entryNumber: number };
  return [putWrite(record, { ConditionExpression: 'attribute_not_exists(PK)' })];
};

/** Why a change cannot be applied to a balance; undefined when it can. */
const balanceProblem = (
  { balanceThousandths }: LedgerHead,
  { amountThousandths }: Pick<OperatorChange, 'amountThousandths'>,
): string | undefined => {
  const after = balanceThousandths + amountThousandths;
  if (after < 0) return `The balance is ${toXTokens(balanceThousandths)}: it cannot go below 0.`;
  if (amountThousandths < 0 || after <= MAX_THOUSANDTHS) return undefined;
  return `The balance is ${toXTokens(balanceThousandths)}: an operator cannot raise it above ${toXTokens(MAX_THOUSANDTHS)}.`;
};

/**
 * The balance change that an operator's idempotency key made. Kept for ever, like its ledger entry: operators
 * change balances rarely, and a script may repeat one at any time.
 */
export const BalanceChangeKey = z.object({ accountId: z.string(), entryNumber: z.number() });

const idempotentChangeKey = (accountId: string, idempotencyKey: string): ItemKey =>
  balanceChangeKey(accountId, hash('sha256', idempotencyKey));

/** Access pattern 41: the ledger entry that an operator's idempotency key made in an account, strongly consistent; undefined when there is none. */
export const findChangeOfKey = async (
  accountId: string,
  idempotencyKey: string,
): Promise<LedgerEntry | undefined> => {
  const item = await getItem(idempotentChangeKey(accountId, idempotencyKey));
  return item && (await findEntry(accountId, BalanceChangeKey.parse(item).entryNumber));
};

/** The entry that an idempotency key made. Throws `ConflictError` when it is of another amount or kind. */
const findEntryOfKey = async (
  accountId: string,
  idempotencyKey: string,
  { amountThousandths, reason }: Pick<OperatorChange, 'amountThousandths' | 'reason'>,
): Promise<LedgerEntry | undefined> => {
  const entry = await findChangeOfKey(accountId, idempotencyKey);
  if (!entry) return undefined;
  const made = entry.type === 'debit' ? -entry.amountThousandths : entry.amountThousandths;
  if (made === amountThousandths && entry.reason === reason) return entry;
  throw new ConflictError(`This idempotency key was used for another change: entry ${entry.id}.`);
};

const findEntry = async (accountId: string, number: number): Promise<LedgerEntry | undefined> =>
  (await findLedgerEntries(accountId, [number]))[0];

const outcomeUnknown = (entryId: string, idempotencyKey: string | undefined): string => {
  const remedy =
    idempotencyKey === undefined
      ? `Wait a minute, then repeat it only if the account's history has no entry ${entryId}.`
      : 'Repeat it with the same idempotency key: it is made once.';
  return `No answer came, so the balance may have changed or not. ${remedy}`;
};
