import type { Account } from '../accounts/accounts.ts';
import { insertExhaustedEvent } from '../accounts/balance-events.ts';
import type { CreationWork } from '../concurrency/work-allowance.ts';
import { ConflictError, PaymentRequiredError, ValidationError } from '../errors.ts';
import { startWebhookDelivery, startWorkflow } from '../executions/executions.ts';
import { newRequestId } from '../ids.ts';
import { accountRateOf } from '../models/rates.ts';
import { countMetric, logger, METRIC } from '../observability.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { screenPrompt } from './content-filter.ts';
import type { NewImageRequest } from './create-image-rules.ts';
import { repeatedRequestId } from './idempotency.ts';
import { type CreationFacts, judgeCreation, NOT_DISPATCHABLE } from './judge-creation.ts';
import { newRequest } from './new-request.ts';
import type { Submission } from './submission.ts';
import {
  type JudgedCreation,
  type RepeatedCreation,
  type WrittenCreation,
  writeCreation,
} from './write-creation.ts';

/** An accepted creation; `replayed` when its `Idempotency-Key` had created it before. */
export interface Creation {
  request: StoredRequest;
  replayed: boolean;
}

/**
 * Accepts a request for images. `allowCreation`, `writeCreation` and `completeCreation` are its steps, in this order; those of a video
 * measure its reference videos after the first. Throws their errors.
 */
export const createImages = async (
  account: Account,
  submission: Submission<NewImageRequest>,
  facts: CreationFacts,
): Promise<Creation> => {
  const done = await tellingExhaustion(account, submission.now, async () => {
    const allowed = await allowCreation(account, submission, facts);
    return allowed.kind === 'repeated' ? allowed : writeCreation(allowed);
  });
  return completeCreation(done);
};

/** Runs the steps of a creation up to its write. When they are refused for want of balance, the account's webhook is told. */
export const tellingExhaustion = async <T>(
  account: Account,
  now: Date,
  create: () => Promise<T>,
): Promise<T> => {
  try {
    return await create();
  } catch (error) {
    if (error instanceof PaymentRequiredError && account.balanceWebhook)
      await tellExhausted(account, error, now);
    throw error;
  }
};

/** The refusal stands, whether it can be told or not. */
const tellExhausted = async (account: Account, refusal: PaymentRequiredError, now: Date): Promise<void> => {
  try {
    await tell(await insertExhaustedEvent(account, refusal, now));
  } catch (error) {
    logger.error('an exhausted balance could not be told', { error: error as Error });
  }
};

/** Starts the delivery of a balance event. If that fails, the reconciler starts it. */
const tell = async (eventId: string | undefined): Promise<void> => {
  if (eventId === undefined) return;
  try {
    await startWebhookDelivery(eventId);
  } catch (error) {
    logger.warn('the delivery of a balance event could not be started', { eventId, error: error as Error });
  }
};

/**
 * First step: finds a repeated submission, and refuses what fields, model, key, end-user, pause, balance or content filter do not
 * allow, in this order. Nothing is written. The balance is checked before any call to another server. The request gets a new id, or
 * `requestId`.
 *
 * Throws `ValidationError`, `ForbiddenError`, `PaymentRequiredError` and `ServiceError` (`temporarily_unavailable`, `content_policy`,
 * `rate_limited`). Throws `ConflictError` for a key used with another body or an end-user being removed.
 */
export const allowCreation = async (
  account: Account,
  submission: Submission,
  facts: CreationFacts,
  requestId?: string,
): Promise<JudgedCreation | RepeatedCreation> => {
  const { idempotency, keyId, now } = submission;
  const repeatedId = repeatedRequestId(idempotency, facts.idempotencyRecord);
  if (repeatedId !== undefined) return { kind: 'repeated', requestId: repeatedId };
  const creation = judgeCreation(account.accountId, submission, facts);
  // The facts were read after the account: a twin of this submission that took the balance is a repetition above.
  const rate = accountRateOf(creation.model.id, facts.settings, account);
  if (!rate) throw new ValidationError({ model: NOT_DISPATCHABLE });
  const { endUser, routeCosts } = facts;
  const id = requestId ?? newRequestId(creation.model.type, now);
  const request = newRequest(id, account.accountId, creation, { rate, routeCosts }, now);
  const { debitThousandths: price } = request;
  if (price > account.balanceThousandths) throw new PaymentRequiredError(price, account.balanceThousandths);
  const work: CreationWork[] = hasClips(request) ? ['clips'] : [];
  if (await screenPrompt(account, creation.prompt)) work.push('filter');
  return { kind: 'judged', request, account, endUser, idempotency, keyId, work, now };
};

/**
 * Last step: starts the execution that owns a new request from then on; if that fails, the request is accepted anyway. Starts the
 * delivery of the event that its debit made. Of a repeated submission,
 * finds the request as it is now. Throws `ConflictError` when that was deleted.
 */
export const completeCreation = async (done: WrittenCreation | RepeatedCreation): Promise<Creation> => {
  const replayed = done.kind === 'repeated';
  const request = replayed ? await findRepeated(done.requestId) : done.request;
  const { requestId, accountId, model } = request;
  // The log's keys hold the id of the HTTP call: this line ties it to the request.
  logger.info('creation accepted', { requestId, accountId, model, replayed });
  if (!replayed) {
    countMetric(METRIC.requestCreated, { model });
    await Promise.all([start(request), tell(done.eventId)]);
  }
  return { request, replayed };
};

const hasClips = (request: StoredRequest): boolean =>
  request.kind === 'video' && request.referenceVideos.length > 0;

const findRepeated = async (requestId: string): Promise<StoredRequest> => {
  const request = await findRequest(requestId);
  if (!request) throw new ConflictError('The request this Idempotency-Key led to was deleted.');
  return request;
};

/** If the start fails, the request stays queued and the reconciler starts it. */
const start = async ({ requestId }: StoredRequest): Promise<void> => {
  try {
    await startWorkflow(requestId);
  } catch (error) {
    logger.error('an execution could not be started', { requestId, error: error as Error });
  }
};
