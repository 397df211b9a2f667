import { isDeepStrictEqual } from 'node:util';
import { type Account, keyBudgetOf } from '../accounts/accounts.ts';
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
import { getItem } from '../table/table.ts';
import { type Refusal, refusedBy, type TransactItem, transact } from '../table/transactions.ts';
import {
  type Idempotency,
  insertIdempotencyRecordWrite,
  repeatedRequestId,
  toIdempotencyRecord,
} from './idempotency.ts';
import { checkEndUser, keyConflict } from './judge-creation.ts';

/** The indexes of the writes in the transaction. */
const ACCOUNT_WRITE = 0;
const END_USER_WRITE = 2;
const REQUEST_WRITE = 3;
const IDEMPOTENCY_WRITE = 4;

/** Where the counts for budgets begin: last, after the idempotency record if there is one. */
const firstCountWrite = (idempotency: Idempotency | undefined): number =>
  idempotency ? IDEMPOTENCY_WRITE + 1 : IDEMPOTENCY_WRITE;

const UNKNOWN_OUTCOME =
  'The request may have been created and charged. To repeat it safely, send it again with the same Idempotency-Key; if it had none, look for it in your list first.';

/** A creation that nothing refuses so far: its request, account and end-user as read before, and the work already done for it. */
export interface JudgedCreation {
  kind: 'judged';
  request: StoredRequest;
  account: Account;
  endUser: EndUser | undefined;
  idempotency: Idempotency | undefined;
  work: readonly CreationWork[];
  /** The API key that asks for it. */
  keyId: string;
  now: Date;
}

/** A creation as written, and the event of its account's balance that its debit made. */
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

/**
 * Access pattern 54: writes debit, ledger entry, end-user counters, request, idempotency record and what is counted for budgets in one
 * transaction. An event is among them when the balance falls below the threshold of the account's webhook. If the same key and body created a
 * request since, nothing is written. Throws `PaymentRequiredError`, `BudgetSpentError`, `AccountBlockedError`, what
 * `checkEndUser` throws, `ConflictError` (key used with another body) and `RateLimitedError`. Throws `OutcomeUnknownError` while an attempt may
 * still be committed.
 */
export const writeCreation = async ({
  request,
  account,
  endUser,
  idempotency,
  work,
  keyId,
  now,
}: JudgedCreation): Promise<WrittenCreation | RepeatedCreation> => {
  const { accountId, debitThousandths, requestId, retentionDays, createdAt } = request;
  let head = account;
  let foundEndUser = endUser;
  let earlierId: string | undefined;
  let owners: BudgetOwner[] = [];
  let eventId: string | undefined;
  let plans = 0;
  // The same creation may have taken the balance or the budget since the key was looked up.
  const unlessRepeated = async (
    refusal: PaymentRequiredError | BudgetSpentError,
  ): Promise<TransactItem[]> => {
    const item = idempotency && (await getItem(idempotencyKey(accountId, idempotency.keyDigest)));
    earlierId = repeatedRequestId(idempotency, toIdempotencyRecord(item, now));
    if (earlierId === undefined) throw refusal;
    return [];
  };
  const plan = async (refusals: readonly Refusal[]): Promise<TransactItem[]> => {
    plans++;
    eventId = undefined;
    // The id is new, so only an earlier attempt of this transaction can have written it: that one committed.
    if (refusedBy(refusals, REQUEST_WRITE)) return [];
    if (idempotency && refusedBy(refusals, IDEMPOTENCY_WRITE)) {
      const record = toIdempotencyRecord(refusals[IDEMPOTENCY_WRITE]?.item, now);
      earlierId = repeatedRequestId(idempotency, record);
      if (earlierId === undefined) throw keyConflict();
      return [];
    }
    if (refusedBy(refusals, END_USER_WRITE)) {
      const item = refusals[END_USER_WRITE]?.item;
      foundEndUser = item && toEndUser(item);
      if (foundEndUser) checkEndUser(foundEndUser);
    }
    const found = await accountFoundInstead(accountId, refusals, ACCOUNT_WRITE);
    if (found?.blockedAt !== undefined) throw new AccountBlockedError();
    head = found ?? head;
    const { balanceThousandths, ledgerEntries } = head;
    if (balanceThousandths < debitThousandths) {
      return unlessRepeated(new PaymentRequiredError(debitThousandths, balanceThousandths, ledgerEntries));
    }
    const endUserId = endUserIdOf(request, foundEndUser);
    const attempted = owners;
    const budgets = { endUser: foundEndUser?.budget, key: keyBudgetOf(head, keyId) };
    owners = [
      ...(budgets.endUser ? [{ id: endUserId, kind: 'end-user' as const, budget: budgets.endUser }] : []),
      ...(budgets.key ? [{ id: keyId, kind: 'API key' as const, budget: budgets.key }] : []),
    ];
    // Of a budget that has changed since, the refusal says nothing.
    const refused =
      isDeepStrictEqual(owners, attempted) &&
      refusedBudget(owners, request, refusals.slice(firstCountWrite(idempotency)));
    if (refused) return unlessRepeated(refused);
    const counted = owners.length > 0 && { budgetOwners: owners.map(({ id }) => id) };
    const debit = {
      amountThousandths: -debitThousandths,
      reason: 'generation',
      reference: requestId,
      retentionDays,
      usedBy: { model: request.model, endUserId, keyId },
      earnedWork: earnedWith(head.earnedWork, work, now),
    } as const;
    const { entry, ...planned } = balanceChangeWrites(head, { ...debit, guardFunds: true }, now);
    eventId = planned.eventId;
    return [
      ...planned.writes,
      countCreationWrite(request, foundEndUser),
      insertRequestWrite({ ...request, endUserId, debitEntryNumber: entry.number, ...counted }),
      ...(idempotency ? [insertIdempotencyRecordWrite(accountId, idempotency, requestId, now)] : []),
      ...owners.flatMap((owner) => countSpendingWrites(accountId, owner, debitThousandths, createdAt)),
      ...planned.eventWrites,
    ];
  };
  try {
    await transact(plan);
  } catch (error) {
    // The request is debited and accepted when only the answer was lost: of the last attempt, or of one before it.
    const mayBeAccepted = plans > 1 || leavesOutcomeOpen(error);
    if (!mayBeAccepted) throw error;
    await findOutcome(error, () => findRequest(requestId), UNKNOWN_OUTCOME);
    // Which attempt was made is not known, nor its event: the reconciler finds it.
    eventId = undefined;
  }
  // An attempt whose answer was lost may have written the key and taken the balance: that request is this one.
  if (earlierId === undefined || earlierId === requestId) return { kind: 'written', request, eventId };
  return { kind: 'repeated', requestId: earlierId };
};

/** The refusal for the first count that the last attempt was refused for. The owners are those of that attempt, in its order. */
const refusedBudget = (
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
