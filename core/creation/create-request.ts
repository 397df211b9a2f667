import type { Account } from '../accounts/accounts.ts';
import { insertExhaustedEvent } from '../accounts/balance-events.ts';
import type { CreationWork } from '../concurrency/work-allowance.ts';
import { ConflictError, PaymentRequiredError } from '../errors.ts';
import { startWorkflow } from '../executions/executions.ts';
import { startFirstAttempt } from '../executions/invoke-later.ts';
import { countMetric, logger, METRIC } from '../observability.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { screenPrompt } from './content-filter.ts';
import { repeatedRequestId } from './idempotency.ts';
import type { CreationFacts } from './judge-creation.ts';
import { inputsToMeasure, type WritingWays, writeMeasured } from './measured-creation.ts';
import { pricedRequest } from './priced-request.ts';
import type { Submission } from './submission.ts';
import type { JudgedCreation, RepeatedCreation, WrittenCreation } from './write-creation.ts';

/** An accepted creation. `replayed`: an earlier call with the same `Idempotency-Key` created the request. */
export interface Creation {
  request: StoredRequest;
  replayed: boolean;
}

/** Replacements for the usual ways to measure and write a creation. The request gets `requestId`, or a new id. */
export interface CreationWays extends WritingWays {
  requestId?: string;
}

/**
 * Accepts a request: judges the submission, measures the inputs, writes the request and starts its execution. A refusal for want
 * of balance is reported to the account's webhook. Throws the errors of `judge` and `writeMeasured`.
 */
export const createRequest = async (
  account: Account,
  submission: Submission,
  facts: CreationFacts,
  { requestId, ...ways }: CreationWays = {},
): Promise<Creation> => {
  try {
    const judged = await judge(account, submission, facts, requestId);
    return await complete(judged.kind === 'repeated' ? judged : await writeMeasured(judged, facts, ways));
  } catch (error) {
    if (error instanceof PaymentRequiredError && account.balanceWebhook)
      await tellExhausted(account, error, submission.now);
    throw error;
  }
};

/** Reports a refusal for want of balance to the account's webhook. A failure to report is only logged. */
const tellExhausted = (account: Account, refusal: PaymentRequiredError, now: Date): Promise<void> =>
  insertExhaustedEvent(account, refusal, now)
    .then(reportEvent)
    .catch((error: Error) => logger.error('an exhausted balance could not be reported', { error }));

/**
 * Starts the delivery of a balance event, if the debit made an event. If the start fails, the reconciler makes up for the start
 * later.
 */
const reportEvent = async (eventId: string | undefined): Promise<void> => {
  if (eventId === undefined) return;
  await startFirstAttempt(eventId).catch((error: Error) =>
    logger.warn('the delivery of a balance event could not be started', { eventId, error }),
  );
};

/**
 * Finds a repeated submission, and refuses what fields, model, key, end-user, pause, balance or content filter do not allow, in this
 * order. Nothing is written. The balance is checked before any call to another server.
 *
 * Throws `ValidationError`, `ForbiddenError`, `PaymentRequiredError` and `ServiceError` (`temporarily_unavailable`, `content_policy`,
 * `rate_limited`). Throws `ConflictError` for a key used with another body or an end-user being removed.
 */
const judge = async (
  account: Account,
  submission: Submission,
  facts: CreationFacts,
  requestId: string | undefined,
): Promise<JudgedCreation | RepeatedCreation> => {
  const { idempotency, keyId, now } = submission;
  const repeatedId = repeatedRequestId(idempotency, facts.idempotencyRecord);
  if (repeatedId !== undefined) return { kind: 'repeated', requestId: repeatedId };
  const request = pricedRequest(account, submission, facts, requestId);
  const { debitThousandths: price } = request;
  const { balanceThousandths: balance, ledgerEntries } = account;
  // The facts were read after the account: a twin of this submission that took the balance is a repetition above.
  if (price > balance) throw new PaymentRequiredError(price, balance, ledgerEntries);
  const work: CreationWork[] = inputsToMeasure(request).length > 0 ? ['clips'] : [];
  if (await screenPrompt(account, request.prompt)) work.push('filter');
  const { endUser } = facts;
  return { kind: 'judged', request, account, endUser, idempotency, keyId, work, now };
};

/**
 * Starts the execution of a written request and the delivery of its balance event. If a start fails, the reconciler makes up for
 * the start later. For a repeated submission, only reads the earlier request. Throws `ConflictError` when the earlier request was
 * deleted.
 */
const complete = async (done: WrittenCreation | RepeatedCreation): Promise<Creation> => {
  const replayed = done.kind === 'repeated';
  const request = replayed ? await findRequest(done.requestId) : done.request;
  if (!request) throw new ConflictError('The request this Idempotency-Key led to was deleted.');
  const { requestId, accountId, model } = request;
  // The log's keys hold the id of the HTTP call: this line ties it to the request.
  logger.info('creation accepted', { requestId, accountId, model, replayed });
  if (!replayed) {
    countMetric(METRIC.requestCreated, { model });
    const started = startWorkflow(request).catch((error: Error) =>
      logger.error('an execution could not be started', { requestId, error }),
    );
    await Promise.all([started, reportEvent(done.eventId)]);
  }
  return { request, replayed };
};
