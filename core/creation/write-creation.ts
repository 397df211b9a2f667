import { isDeepStrictEqual } from 'node:util';
import type { Account } from '../accounts/accounts.ts';
import { type BudgetOwner, budgetSpent, limitsAt } from '../budgets/budget-rules.ts';
import { countSpendingWrites, spentOf } from '../budgets/spending.ts';
import { type CreationWork, earnedWith } from '../concurrency/work-allowance.ts';
import { countCreationWrite, type EndUser, endUserIdOf, toEndUser } from '../end-users/end-users.ts';
import { AccountBlockedError, type BudgetSpentError, PaymentRequiredError } from '../errors.ts';
import { accountFoundInstead, balanceChangeWrites } from '../ledger/ledger.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { findRequest, insertRequestWrite } from '../requests/requests.ts';
import { idempotencyKey } from '../table/keys.ts';
import { findOutcome, leavesOutcomeOpen } from '../table/outcomes.ts';
import { getItem, type StoredItem } from '../table/table.ts';
import {
  isRefused,
  type NamedRefusals,
  type NamedWrites,
  type Refusal,
  refusedBy,
  transactNamed,
} from '../table/transactions.ts';
import { budgetOwners } from './budget-owners.ts';
import {
  type Idempotency,
  insertIdempotencyRecordWrite,
  repeatedRequestId,
  toIdempotencyRecord,
} from './idempotency.ts';
import { checkEndUser, keyConflict } from './judge-creation.ts';

const UNKNOWN_OUTCOME =
  'The request may have been created and charged. To repeat it safely, send it again with the same Idempotency-Key; if it had none, look for it in your list first.';

/** A creation that has passed every check before the transaction, with the account and end-user as read, and the work done for the creation. */
export interface JudgedCreation {
  kind: 'judged';
  request: StoredRequest;
  account: Account;
  endUser: EndUser | undefined;
  idempotency: Idempotency | undefined;
  work: readonly CreationWork[];
  /** The API key of the call. */
  keyId: string;
  now: Date;
}

/** A written creation, and the id of the balance event that its debit made. */
export interface WrittenCreation {
  kind: 'written';
  request: StoredRequest;
  eventId: string | undefined;
}

/** The id of the request that a repeated submission (same `Idempotency-Key`, same body) created before. */
export interface RepeatedCreation {
  kind: 'repeated';
  requestId: string;
}

/** The writes of a creation, by what they write. */
type CreationWrites = NamedWrites<
  'account' | 'entry' | 'endUser' | 'request' | 'idempotency' | 'spending' | 'event'
>;
type CreationRefusals = NamedRefusals<keyof CreationWrites>;

/** The stored items that an attempt of the transaction relies on. */
interface Basis {
  account: Account;
  endUser: EndUser | undefined;
  /** The owners of the budgets that count the debit. */
  owners: BudgetOwner[];
}

/** An attempt of the transaction: the writes, absent when nothing is left to write, and the result after the commit. */
interface Attempt {
  basis: Basis;
  writes?: CreationWrites;
  result: WrittenCreation | RepeatedCreation;
}

/**
 * Access pattern 54: writes a creation in one transaction. The items are the account with its debit, ledger entry, end-user
 * counters, request, idempotency record and counts of budgets. A balance that falls below the webhook's threshold adds an event.
 * If the same key and body created a request since, nothing is written. Throws `PaymentRequiredError`, `BudgetSpentError`,
 * `AccountBlockedError`, what `checkEndUser` throws, `ConflictError` (key used with another body) and `RateLimitedError`. Throws
 * `OutcomeUnknownError` while an attempt may still be committed.
 */
export const writeCreation = async (
  creation: JudgedCreation,
): Promise<WrittenCreation | RepeatedCreation> => {
  const { request, account, endUser } = creation;
  let attempt: Attempt = { basis: { account, endUser, owners: [] }, result: writtenAs(request) };
  let plans = 0;
  try {
    await transactNamed(async (refusals: CreationRefusals) => {
      plans++;
      attempt = await planAttempt(creation, attempt.basis, refusals);
      return attempt.writes;
    });
    return attempt.result;
  } catch (error) {
    // The request is debited and accepted when only the answer was lost: of the last attempt, or of one before it.
    const mayBeAccepted = plans > 1 || leavesOutcomeOpen(error);
    if (!mayBeAccepted) throw error;
    await findOutcome(error, () => findRequest(request.requestId), UNKNOWN_OUTCOME);
    // Which attempt committed is not known, nor its event: the reconciler finds the event.
    return writtenAs(request);
  }
};

/** Plans the next attempt from what the last attempt relied on and was refused for. Throws what `writeCreation` throws for a refused creation. */
const planAttempt = async (
  creation: JudgedCreation,
  last: Basis,
  refusals: CreationRefusals,
): Promise<Attempt> => {
  const { request } = creation;
  // The id is new, so a stored request stems from an earlier attempt of this transaction: that attempt committed.
  if (isRefused(refusals.request?.[0])) return { basis: last, result: writtenAs(request) };
  const [keyRefusal] = refusals.idempotency ?? [];
  if (isRefused(keyRefusal))
    return { basis: last, result: repeatedOr(keyConflict(), creation, keyRefusal?.item) };
  const basis = await basisAfter(last, creation, refusals);
  const refusal = fundsRefusal(basis, request, { owners: last.owners, counts: refusals.spending ?? [] });
  // The same creation may have taken the balance or the budget since the key was looked up.
  if (refusal) return { basis, result: repeatedOr(refusal, creation, await findKeyItem(creation)) };
  const { writes, eventId } = creationWrites(creation, basis);
  return { basis, writes, result: writtenAs(request, eventId) };
};

const writtenAs = (request: StoredRequest, eventId?: string): WrittenCreation => ({
  kind: 'written',
  request,
  eventId,
});

/** The creation that the record of an idempotency key names. Throws `refusal` when the record names none. */
const repeatedOr = (
  refusal: Error,
  { request, idempotency, now }: JudgedCreation,
  keyItem: StoredItem | undefined,
): WrittenCreation | RepeatedCreation => {
  const requestId = repeatedRequestId(idempotency, toIdempotencyRecord(keyItem, now));
  if (requestId === undefined) throw refusal;
  // An attempt whose answer was lost may have written the key and taken the balance: that request is this one.
  return requestId === request.requestId ? writtenAs(request) : { kind: 'repeated', requestId };
};

const findKeyItem = async ({ request, idempotency }: JudgedCreation): Promise<StoredItem | undefined> =>
  idempotency && (await getItem(idempotencyKey(request.accountId, idempotency.keyDigest)));

/**
 * The basis of the next attempt: the stored items that refused the last attempt replace those that the attempt relied on. Throws when the end-user
 * or the account may not create any more.
 */
const basisAfter = async (
  { account, endUser }: Basis,
  { request, keyId }: JudgedCreation,
  refusals: CreationRefusals,
): Promise<Basis> => {
  const [endUserRefusal] = refusals.endUser ?? [];
  const item = endUserRefusal?.item;
  const foundEndUser = isRefused(endUserRefusal) ? item && toEndUser(item) : endUser;
  if (foundEndUser) checkEndUser(foundEndUser);
  const foundAccount = await accountFoundInstead(request.accountId, refusals.account?.[0]);
  if (foundAccount?.blockedAt !== undefined) throw new AccountBlockedError();
  const head = foundAccount ?? account;
  return {
    account: head,
    endUser: foundEndUser,
    owners: budgetOwners(request, head, foundEndUser, keyId),
  };
};

/** Why the balance or a budget does not suffice for a debit; undefined when all suffice, as far as the last attempt shows. */
const fundsRefusal = (
  { account, owners }: Basis,
  request: StoredRequest,
  last: { owners: readonly BudgetOwner[]; counts: readonly Refusal[] },
): PaymentRequiredError | BudgetSpentError | undefined => {
  const { balanceThousandths, ledgerEntries } = account;
  if (balanceThousandths < request.debitThousandths)
    return new PaymentRequiredError(request.debitThousandths, balanceThousandths, ledgerEntries);
  // The refusal by a budget that has changed since says nothing of the new budget.
  return isDeepStrictEqual(owners, last.owners) ? budgetRefusal(owners, request, last.counts) : undefined;
};

/** The writes of a creation on this basis, and the id of the account's event if the debit makes an event. */
const creationWrites = (
  { request, idempotency, work, keyId, now }: JudgedCreation,
  { account, endUser, owners }: Basis,
): { writes: CreationWrites; eventId: string | undefined } => {
  const { accountId, requestId, debitThousandths, createdAt, retentionDays, model } = request;
  const endUserId = endUserIdOf(request, endUser);
  const debit = {
    amountThousandths: -debitThousandths,
    reason: 'generation',
    reference: requestId,
    retentionDays,
    usedBy: { model, endUserId, keyId },
    earnedWork: earnedWith(account.earnedWork, work, now),
    guardFunds: true,
  } as const;
  const { entry, writes, eventWrites, eventId } = balanceChangeWrites(account, debit, now);
  const counted = owners.length > 0 && { budgetOwners: owners.map(({ id }) => id) };
  const numbered = { ...request, endUserId, debitEntryNumber: entry.number, ...counted };
  return {
    eventId,
    writes: {
      account: [writes[0]],
      entry: [writes[1]],
      endUser: [countCreationWrite(request, endUser)],
      request: [insertRequestWrite(numbered)],
      idempotency: idempotency ? [insertIdempotencyRecordWrite(accountId, idempotency, requestId, now)] : [],
      spending: owners.flatMap((owner) => countSpendingWrites(accountId, owner, debitThousandths, createdAt)),
      event: eventWrites,
    },
  };
};

/** The refusal for the first count that refused the last attempt. The owners are those of that attempt, in its order. */
const budgetRefusal = (
  owners: readonly BudgetOwner[],
  { debitThousandths, createdAt }: StoredRequest,
  refusals: readonly Refusal[],
): BudgetSpentError | undefined => {
  const counts = owners.flatMap((owner) =>
    limitsAt(owner.budget, createdAt).map((limit) => ({ owner, limit })),
  );
  const index = counts.findIndex((_, at) => refusedBy(refusals, at));
  const count = counts[index];
  if (!count) return undefined;
  return budgetSpent(count.owner, count.limit, spentOf(refusals[index]?.item), debitThousandths);
};
