import type { Account } from '../accounts/accounts.ts';
import { type CreationWork, earnedWith } from '../concurrency/work-allowance.ts';
import { countCreationWrite, type EndUser, endUserIdOf, toEndUser } from '../end-users/end-users.ts';
import { AccountBlockedError, PaymentRequiredError } from '../errors.ts';
import { accountFoundInstead, balanceChangeWrites, type LedgerHead } from '../ledger/ledger.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { findRequest, insertRequestWrite } from '../requests/requests.ts';
import { batchGet } from '../table/batches.ts';
import { idempotencyKey } from '../table/keys.ts';
import { leavesOutcomeOpen } from '../table/outcomes.ts';
import { type Refusal, refusedBy, type TransactItem, transact } from '../table/transactions.ts';
import {
  type Idempotency,
  insertIdempotencyRecordWrite,
  repeatedRequestId,
  toIdempotencyRecord,
} from './idempotency.ts';
import { checkEndUser, keyConflict } from './judge-creation.ts';

/** The places of the writes in the transaction. */
const ACCOUNT_WRITE = 0;
const END_USER_WRITE = 2;
const REQUEST_WRITE = 3;
const IDEMPOTENCY_WRITE = 4;

/** Account and end-user as read before, the caller's key, and the work already done for the creation. */
export interface CreationContext {
  account: Account;
  endUser: EndUser | undefined;
  idempotency: Idempotency | undefined;
  work: readonly CreationWork[];
  /** The API key that asks for it. */
  keyId: string;
}

/**
 * Access pattern 104: writes debit, ledger entry, end-user counters, request and idempotency record in one
 * transaction. Returns undefined, or the id of the request that the same key and body created in the
 * meantime; then nothing is written. Throws `PaymentRequiredError`, `AccountBlockedError`, what
 * `checkEndUser` throws, `ConflictError` (key used with another body) and `RateLimitedError`.
 */
export const writeCreation = async (
  request: StoredRequest,
  { account, endUser, idempotency, work, keyId }: CreationContext,
  now: Date,
): Promise<string | undefined> => {
  const { accountId, debitThousandths, requestId, retentionDays } = request;
  let head: LedgerHead = account;
  let foundEndUser = endUser;
  let earlierId: string | undefined;
  let plans = 0;
  const plan = async (refusals: readonly Refusal[]): Promise<TransactItem[]> => {
    plans++;
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
    if (head.balanceThousandths < debitThousandths) {
      // The same creation may have taken the balance since the key was looked up.
      earlierId = idempotency && (await findRepeatedRequestId(accountId, idempotency, now));
      if (earlierId === undefined) {
        throw new PaymentRequiredError(debitThousandths, head.balanceThousandths);
      }
      return [];
    }
    const endUserId = endUserIdOf(request, foundEndUser);
    const debit = {
      amountThousandths: -debitThousandths,
      reason: 'generation',
      reference: requestId,
      retentionDays,
      usedBy: { model: request.model, endUserId, keyId },
      earnedWork: earnedWith(head.earnedWork, work, now),
    } as const;
    const { entry, writes } = balanceChangeWrites(head, { ...debit, guardFunds: true }, now);
    return [
      ...writes,
      countCreationWrite(request, foundEndUser),
      insertRequestWrite({ ...request, endUserId, debitEntryNumber: entry.number }),
      ...(idempotency ? [insertIdempotencyRecordWrite(accountId, idempotency, requestId, now)] : []),
    ];
  };
  try {
    await transact(plan);
  } catch (error) {
    // The request is debited and accepted when only the answer was lost: of the last attempt, or of one before it.
    const mayBeAccepted = plans > 1 || leavesOutcomeOpen(error);
    if (!mayBeAccepted || !(await findRequest(requestId))) throw error;
  }
  // An attempt whose answer was lost may have written the key and taken the balance: that request is this one.
  return earlierId === requestId ? undefined : earlierId;
};

const findRepeatedRequestId = async (
  accountId: string,
  idempotency: Idempotency,
  now: Date,
): Promise<string | undefined> => {
  const [item] = await batchGet([idempotencyKey(accountId, idempotency.keyDigest)]);
  return repeatedRequestId(idempotency, toIdempotencyRecord(item, now));
};
