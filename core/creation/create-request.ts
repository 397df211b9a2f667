import type { Account } from '../accounts/accounts.ts';
import type { CreationWork } from '../concurrency/work-allowance.ts';
import { ConflictError, PaymentRequiredError } from '../errors.ts';
import { startWorkflow } from '../executions/executions.ts';
import { newRequestId } from '../ids.ts';
import { rateOf } from '../models/rates.ts';
import { countMetric, logger, METRIC } from '../observability.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { leavesOutcomeOpen } from '../table/outcomes.ts';
import { screenPrompt } from './content-filter.ts';
import type { CreationFacts } from './creation-facts.ts';
import { repeatedRequestId } from './idempotency.ts';
import { judgeCreation } from './judge-creation.ts';
import { newRequest, priceOf } from './new-request.ts';
import type { NewRequest, Submission } from './submission.ts';
import { writeCreation } from './write-creation.ts';

/** An accepted creation; `replayed` when its `Idempotency-Key` had created it before. */
export interface Creation {
  request: StoredRequest;
  replayed: boolean;
}

/** Steps around the write of a creation that call other servers. */
export interface Completion<New> {
  /** Returns the creation with the facts that need calls to find out. */
  complete: (creation: New, requestId: string) => Promise<New>;
  /** Removes the files that `complete` left. Never rejects. */
  discard: (creation: New, requestId: string) => Promise<void>;
}

const NOTHING_TO_COMPLETE = {
  complete: async <New>(creation: New): Promise<New> => creation,
  discard: async (): Promise<void> => undefined,
};

/**
 * Accepts a request for images or a video.
 *
 * 1. Answer a repeated submission (same `Idempotency-Key`, same body) with the request it created.
 * 2. Refuse what fields, model, key, end-user, pause, balance or content filter do not allow, in this order;
 *    nothing is written. The balance is checked before any call to another server.
 * 3. `complete` the creation with the facts that need calls: the length of reference videos. Measuring leaves
 *    copies of them.
 * 4. Write debit, ledger entry, end-user counters, request and idempotency record in one transaction, under
 *    the same conditions. If the transaction is refused, `discard` the copies, unless it may have been
 *    written after all.
 * 5. Start the execution that owns the request from then on. If that fails, the request is accepted anyway.
 *
 * Throws `ValidationError`, `ForbiddenError`, `PaymentRequiredError`, `AccountBlockedError` and
 * `ServiceError` (`temporarily_unavailable`, `content_policy`). Throws `ConflictError` for a key used with
 * another body or an end-user being removed, `RateLimitedError` when the account is too contended, and the
 * errors of `complete`.
 */
export const createRequest = async <New extends NewRequest>(
  account: Account,
  submission: Submission<New>,
  facts: CreationFacts,
  { complete, discard }: Completion<New> = NOTHING_TO_COMPLETE,
): Promise<Creation> => {
  const { accountId } = account;
  const { idempotency, now } = submission;
  const repeatedId = repeatedRequestId(idempotency, facts.idempotencyRecord);
  if (repeatedId !== undefined) return replay(repeatedId);
  const creation = judgeCreation(submission, facts);
  const rate = rateOf(creation.model.id, facts.settings);
  // The facts were read after the account: a twin of this submission that took the balance is a repetition above.
  if (priceOf(creation, rate) > account.balanceThousandths) throw new PaymentRequiredError();
  const isJudged = await screenPrompt(account, creation.prompt);
  const requestId = newRequestId(creation.model.type, now);
  const completed = await complete(creation, requestId);
  const request = newRequest(requestId, accountId, completed, rate, now);
  let earlierId: string | undefined;
  try {
    const work = workDone(request, isJudged);
    earlierId = await writeCreation(request, { account, endUser: facts.endUser, idempotency, work }, now);
  } catch (error) {
    if (!leavesOutcomeOpen(error)) await discard(completed, requestId);
    throw error;
  }
  if (earlierId !== undefined) {
    await discard(completed, requestId);
    return replay(earlierId);
  }
  countMetric(METRIC.requestCreated, { model: request.model });
  await start(request);
  return { request, replayed: false };
};

/** What an accepted creation used of the account's allowance, and earns back. */
const workDone = (request: StoredRequest, isJudged: boolean): CreationWork[] => [
  ...(isJudged ? (['filter'] as const) : []),
  ...(request.kind === 'video' && request.referenceVideos.length > 0 ? (['clips'] as const) : []),
];

/** The request that was created before, as it is now. Throws `ConflictError` when it was deleted. */
const replay = async (requestId: string): Promise<Creation> => {
  const request = await findRequest(requestId);
  if (!request) throw new ConflictError('The request this Idempotency-Key led to was deleted.');
  return { request, replayed: true };
};

/** If the start fails, the request stays queued and the reconciler starts it. */
const start = async ({ requestId }: StoredRequest): Promise<void> => {
  try {
    await startWorkflow(requestId);
  } catch (error) {
    logger.error('an execution could not be started', { requestId, error: error as Error });
  }
};
