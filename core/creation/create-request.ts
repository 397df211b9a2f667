import type { Account } from '../accounts/accounts.ts';
import { insertExhaustedEvent } from '../accounts/balance-events.ts';
import type { CreationWork } from '../concurrency/work-allowance.ts';
import { ConflictError, PaymentRequiredError } from '../errors.ts';
import { startWorkflow } from '../executions/executions.ts';
import { startFirstAttempt } from '../executions/invoke-later.ts';
import { countMetric, logger, METRIC, runOrLog } from '../observability.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { leavesOutcomeOpen } from '../table/outcomes.ts';
import { screenPrompt } from './content-filter.ts';
import { repeatedRequestId } from './idempotency.ts';
import type { CreationFacts } from './judge-creation.ts';
import {
  inputsToMeasure,
  type MeasuredRequest,
  type MeasuringWays,
  measureCreation,
} from './measured-creation.ts';
import { pricedRequest } from './priced-request.ts';
import type { Submission } from './submission.ts';
import {
  type JudgedCreation,
  type RepeatedCreation,
  type WrittenCreation,
  writeCreation,
} from './write-creation.ts';

/** An accepted creation. `replayed`: an earlier call with the same `Idempotency-Key` created the request. */
export interface Creation {
  request: StoredRequest;
  replayed: boolean;
}

/** Replacements for the usual way to measure a creation. The request gets `requestId`, or a new id. */
interface CreationWays extends MeasuringWays {
  requestId?: string;
}

/** A creation that is ready to be written: judged and measured. */
export interface PreparedCreation {
  kind: 'prepared';
  judged: JudgedCreation;
  discardCopies: MeasuredRequest['discardCopies'];
}

/** Accepts a request. Throws the errors of `prepareCreation` and `finishCreation`. */
export const createRequest = async (
  account: Account,
  submission: Submission,
  facts: CreationFacts,
  ways: CreationWays = {},
): Promise<Creation> => finishCreation(await prepareCreation(account, submission, facts, ways));

/**
 * Judges a submission, and measures its inputs. The bucket's lifecycle removes the copies of reference videos of a prepared
 * creation that is never finished. A refusal for want of balance is reported to the account's webhook. Throws the errors of `judge`
 * and `measureCreation`.
 */
export const prepareCreation = async (
  account: Account,
  submission: Submission,
  facts: CreationFacts,
  { requestId, ...ways }: CreationWays,
): Promise<PreparedCreation | RepeatedCreation> => {
  try {
    const judged = await judge(account, submission, facts, requestId);
    if (judged.kind === 'repeated') return judged;
    const { request, discardCopies } = await measureCreation(judged, facts, ways);
    return { kind: 'prepared', judged: { ...judged, request }, discardCopies };
  } catch (error) {
    throw await reported(error, account, submission.now);
  }
};

/**
 * Writes a prepared creation, and starts its execution. The copies of reference videos are discarded unless the request may be
 * written. A refusal for want of balance is reported to the account's webhook. Throws the errors of `writeCreation` and `complete`.
 */
export const finishCreation = async (creation: PreparedCreation | RepeatedCreation): Promise<Creation> => {
  if (creation.kind === 'repeated') return complete(creation);
  const { judged, discardCopies } = creation;
  let written: WrittenCreation | RepeatedCreation;
  try {
    written = await writeCreation(judged);
  } catch (error) {
    if (!leavesOutcomeOpen(error)) await discardCopies();
    throw await reported(error, judged.account, judged.now);
  }
  if (written.kind === 'repeated') await discardCopies();
  return complete(written);
};

/** The error of a creation. A refusal for want of balance is reported to the account's webhook. */
const reported = async (error: unknown, account: Account, now: Date): Promise<unknown> => {
  if (error instanceof PaymentRequiredError) await tellExhausted(account, error, now);
  return error;
};

/** Reports a refusal for want of balance to the account's webhook. A failure to report is only logged. */
const tellExhausted = (account: Account, refusal: PaymentRequiredError, now: Date): Promise<void> =>
  runOrLog({ message: 'an exhausted balance could not be reported' }, async () =>
    reportEvent(await insertExhaustedEvent(account, refusal, now)),
  );

/**
 * Starts the delivery of a balance event, if the debit made an event. If the start fails, the reconciler makes up for the start
 * later.
 */
const reportEvent = async (eventId: string | undefined): Promise<void> => {
  if (eventId === undefined) return;
  const failure = { message: 'the delivery of a balance event could not be started', eventId };
  await runOrLog({ ...failure, level: 'warn' }, () => startFirstAttempt(eventId));
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
    const failure = { message: 'an execution could not be started', requestId };
    const started = runOrLog(failure, () => startWorkflow(request));
    await Promise.all([started, reportEvent(done.eventId)]);
  }
  return { request, replayed };
};
