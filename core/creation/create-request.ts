import type { Account } from '../accounts/accounts.ts';
import { insertExhaustedEvent } from '../accounts/balance-events.ts';
import type { CreationWork } from '../concurrency/work-allowance.ts';
import { ConflictError, PaymentRequiredError } from '../errors.ts';
import { startWorkflow } from '../executions/executions.ts';
import { startFirstAttempt } from '../executions/invoke-later.ts';
import { newRequestId } from '../ids.ts';
import { countMetric, logger, METRIC } from '../observability.ts';
import { inputFilesOf } from '../requests/input-files.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { inputsExpiry } from '../uploads/own-inputs.ts';
import { screenPrompt } from './content-filter.ts';
import { repeatedRequestId } from './idempotency.ts';
import { type CreationFacts, judgeCreation, routeFactsOf } from './judge-creation.ts';
import { inputsToMeasure, type WritingWays, writeMeasured } from './measured-creation.ts';
import { newRequest } from './new-request.ts';
import type { Submission } from './submission.ts';
import type { JudgedCreation, RepeatedCreation, WrittenCreation } from './write-creation.ts';

/** An accepted creation; `replayed` when its `Idempotency-Key` had created it before. */
export interface Creation {
  request: StoredRequest;
  replayed: boolean;
}

/** How a creation is written and measured, where not as usual. The request gets a new id, or `requestId`. */
export interface CreationWays extends WritingWays {
  requestId?: string;
}

/**
 * Accepts a request: judges it, measures its inputs, writes it and starts its execution. When it is refused for want of balance, the
 * account's webhook gets an event. Throws the errors of `judge` and `writeMeasured`.
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

/** The refusal stands, whether it can be reported or not. */
const tellExhausted = (account: Account, refusal: PaymentRequiredError, now: Date): Promise<void> =>
  insertExhaustedEvent(account, refusal, now)
    .then(reportEvent)
    .catch((error: Error) => logger.error('an exhausted balance could not be reported', { error }));

/** Starts the delivery of a balance event, if there is one. If that fails, the reconciler starts it. */
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
  const { creation, rate } = judgeCreation(account, submission, facts);
  const { endUser, routeCosts, requestsNamed = [] } = facts;
  const inputsExpireAt = inputsExpiry(inputFilesOf(creation), requestsNamed);
  const id = requestId ?? newRequestId(creation.model.type, now);
  const own = { rate, routeCosts, inputsExpireAt, routes: routeFactsOf(creation.model.id, facts) };
  const request = newRequest(id, account.accountId, creation, own, now);
  const { debitThousandths: price } = request;
  const { balanceThousandths: balance, ledgerEntries } = account;
  // The facts were read after the account: a twin of this submission that took the balance is a repetition above.
  if (price > balance) throw new PaymentRequiredError(price, balance, ledgerEntries);
  const work: CreationWork[] = inputsToMeasure(request).length > 0 ? ['clips'] : [];
  if (await screenPrompt(account, creation.prompt)) work.push('filter');
  return { kind: 'judged', request, account, endUser, idempotency, keyId, work, now };
};

/**
 * Starts the execution that owns a new request from then on, and the delivery of the event that its debit made. If that fails, the request
 * stays queued and the reconciler starts it. Of a repeated submission, finds the request as it is now. Throws `ConflictError` when that was
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
