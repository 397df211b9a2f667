import { findAccount, getAccount } from '../accounts/accounts.ts';
import { findBalanceEvent } from '../accounts/balance-events.ts';
import { accountLimit, hostLimit, withinLimits } from '../concurrency/in-flight.ts';
import {
  type AttemptName,
  claimAttempt,
  closeFirstAttempt,
  findAttempt,
  recordAttempt,
} from '../deliveries/webhook-attempts.ts';
import { requiredEnv } from '../environment.ts';
import { type NextAttempt, startWebhookDelivery } from '../executions/executions.ts';
import { loadUrlSigner } from '../files/signed-urls.ts';
import { guardedRequest, TargetRefusedError } from '../guarded-http/guarded-http.ts';
import { parseBalanceEventId } from '../ids.ts';
import { countMetric, logger, METRIC, measure } from '../observability.ts';
import { renderRecord } from '../requests/render-record.ts';
import { isRemoved } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { type Clock, type Instant, systemClock, toInstant } from '../time.ts';
import { keepTrying } from '../transient-errors.ts';
import { backOffFrom, endBackOff, findHostBackOff, type HostBackOff } from './webhook-hosts.ts';
import {
  type AttemptResult,
  balanceWebhookOf,
  type DeliveryStep,
  deliveryStartedAt,
  isHanging,
  liveSecrets,
  signatureHeaders,
  stepAfterAttempt,
  stepWhenPostponed,
  type WebhookEvent,
  webhookIdOf,
} from './webhook-rules.ts';

/** Time limit for a receiver's answer. */
const ANSWER_TIMEOUT_MS = 15_000;

/**
 * Limits on an account's webhooks under way at once: in all, to one host, and to a host that hung. All accounts share the
 * concurrency of `deliver-webhook`, and nothing else.
 */
export const WEBHOOK_SLOTS = { account: 20, host: 10, hangingHost: 1 };
/** Longer than an attempt: its time limit, and what is read and written around it. */
const LEASE_SECONDS = 30;

/** The delivery of what an event's webhook reports, and how many of its attempts were made. */
export interface Delivery {
  subjectId: string;
  delivery: string;
  attemptsMade: number;
}

/** Time that an execution waits for another function with the same attempt. */
const UNDER_WAY_SECONDS = 60;

/**
 * Makes the next attempt to deliver the webhook of a terminal request, or of a balance event, and returns the next step. Sends
 * the record as it reads now, freshly signed, and records the attempt. Only the status of the answer counts; its body is not
 * read. Each attempt is made once: a repeated attempt only returns the step that followed.
 *
 * The attempt is postponed while the account has no free slot or backs off from a host that hung.
 */
export const deliverWebhook = async (
  delivery: Delivery,
  clock: Clock = systemClock,
  random: () => number = Math.random,
): Promise<DeliveryStep> => {
  const subject = await findSubject(delivery.subjectId, clock.now());
  if (!subject) return { next: 'stop' };
  const after = await nextAttempt(subject, delivery, clock, random);
  const { attemptsMade } = delivery;
  return after?.step ?? { next: 'wait', waitSeconds: UNDER_WAY_SECONDS, attemptsMade };
};

/**
 * Makes the first attempt of a webhook. If the receiver does not accept the webhook, or the attempt cannot be made yet, starts
 * the execution that makes the later attempts, and takes the first attempt off the due list. Does nothing while another function
 * makes the attempt.
 */
export const makeFirstAttempt = async (
  subjectId: string,
  stateMachineArn: string,
  clock: Clock = systemClock,
  random: () => number = Math.random,
): Promise<void> => {
  const subject = await findSubject(subjectId, clock.now());
  const delivery = { subjectId, delivery: subjectId, attemptsMade: 0 };
  const after = subject ? await nextAttempt(subject, delivery, clock, random) : NO_SUBJECT;
  if (!after) return;
  const { step, isClosed } = after;
  if (subject && step.next === 'wait')
    await startWebhookDelivery(stateMachineArn, subject, { next: nextOf(step) });
  // The record of an attempt that was the last took it off the list.
  if (!isClosed) await closeFirstAttempt(subjectId);
};

const nextOf = ({ waitSeconds, attemptsMade }: NextAttempt): NextAttempt => ({ waitSeconds, attemptsMade });

/** The step after an attempt, and whether this process took the attempt off the due list with its result. */
interface AfterAttempt {
  step: DeliveryStep;
  isClosed: boolean;
}

const NO_SUBJECT: AfterAttempt = { step: { next: 'stop' }, isClosed: false };

/** The step after the next attempt, made now or before; undefined while another function makes the attempt. */
const nextAttempt = async (
  subject: WebhookSubject,
  { delivery, attemptsMade }: Delivery,
  clock: Clock,
  random: () => number,
): Promise<AfterAttempt | undefined> => {
  const now = clock.now();
  const { id, accountId, url } = subject;
  const name = { requestId: id, delivery, number: attemptsMade + 1 };
  const [state, backOff] = await Promise.all([
    findAttempt(name, clock),
    findHostBackOff(accountId, url, now),
  ]);
  if (state.kind === 'under-way') return undefined;
  const stepAfter = (result: AttemptResult): DeliveryStep =>
    stepAfterAttempt(result, name.number, retrySchedule(), random());
  if (state.kind === 'made') return { step: stepAfter(state.result), isClosed: false };
  const attempt = () =>
    attemptDelivery(subject, { name, isWritten: state.isWritten, backOff, clock, stepAfter });
  const isAllowed = backOff === undefined || backOff.notBefore <= toInstant(now);
  const made = isAllowed ? await withinLimits(limitsOf(accountId, url, backOff), clock, attempt) : undefined;
  const step = made ? made.result : postponed(subject, { delivery, attemptsMade, backOff, now }, random);
  if (step?.next === 'give-up') {
    logger.warn('webhook given up', { reason: step.reason });
    countMetric(METRIC.webhookGivenUp, {});
  }
  return step && { step, isClosed: made !== undefined && isLast(step) };
};

/** Whether no attempt follows. */
const isLast = ({ next }: DeliveryStep): boolean => next !== 'wait';

const postponed = (
  subject: WebhookSubject,
  {
    delivery,
    attemptsMade,
    backOff,
    now,
  }: { delivery: string; attemptsMade: number; backOff: HostBackOff | undefined; now: Date },
  random: () => number,
): DeliveryStep => {
  const startedAt = deliveryStartedAt(delivery, subject);
  const wait = { startedAt, notBefore: backOff?.notBefore, now, attemptsMade };
  const step = stepWhenPostponed(wait, retrySchedule(), random());
  logger.info('webhook postponed', { ...step });
  return step;
};

const limitsOf = (accountId: string, url: string, backOff: HostBackOff | undefined) => {
  const { account, host, hangingHost } = WEBHOOK_SLOTS;
  const limit = { leaseSeconds: LEASE_SECONDS };
  return [
    accountLimit('webhooks', accountId, { ...limit, slots: account }),
    hostLimit('webhooks', accountId, url, { ...limit, slots: backOff ? hangingHost : host }),
  ];
};

/** An attempt that is to be made. `isWritten` as in `AttemptState`; `stepAfter` tells what follows a result. */
interface NewAttempt {
  name: AttemptName;
  isWritten: boolean;
  backOff: HostBackOff | undefined;
  clock: Clock;
  stepAfter: (result: AttemptResult) => DeliveryStep;
}

/** Time in which the record of an attempt is retried after transient errors: an unrecorded attempt would be made twice. */
const RECORD_MS = 10_000;

/** Claims an attempt, makes and records it, and returns what follows; undefined when another function has claimed it. */
const attemptDelivery = async (
  subject: WebhookSubject,
  { name, isWritten, backOff, clock, stepAfter }: NewAttempt,
): Promise<DeliveryStep | undefined> => {
  const { accountId, url, at } = subject;
  const message = await signedMessage(subject, clock.now());
  if (!(await claimAttempt(name, toInstant(clock.now()), isWritten))) return undefined;
  // From here on, so that a slow read of ours does not count as a receiver that hangs.
  const startedAt = clock.now();
  const result = await send(url, message);
  const endMs = clock.now().getTime();
  const milliseconds = endMs - startedAt.getTime();
  const made = { ...name, milliseconds, ...result };
  const step = stepAfter(result);
  await keepTrying(
    () => recordAttempt({ ...made, startedAt: toInstant(startedAt) }, isLast(step)),
    () => clock.now().getTime() < endMs + RECORD_MS,
  );
  const sinceEndSeconds = (startedAt.getTime() - Date.parse(at)) / 1000;
  logger.info('webhook attempted', { ...made, accountId, sinceEndSeconds });
  // Later attempts, and deliveries that an operator started, are as late as the receiver makes them.
  if (name.number === 1 && name.delivery === subject.id) measure(METRIC.webhookLag, {}, sinceEndSeconds);
  if (isHanging(result, milliseconds)) await backOffFrom(accountId, url, backOff, clock.now());
  else if (backOff) await endBackOff(accountId, url, backOff);
  return step;
};

/** The pauses after each failed attempt, in seconds. */
const retrySchedule = (): number[] => requiredEnv('WEBHOOK_RETRY_SECONDS').split(',').map(Number);

/** The body and the headers that sign it. */
const signedMessage = async ({ id, accountId, render }: WebhookSubject, now: Date) => {
  const [account, event] = await Promise.all([getAccount(accountId), render(now)]);
  const body = JSON.stringify(event);
  const signature = signatureHeaders(webhookIdOf(id), body, liveSecrets(account, now), now);
  return { body, headers: { 'content-type': 'application/json', ...signature } };
};

/** Sends the message. The class of an error is a word for an operator. */
const send = async (
  url: string,
  message: Awaited<ReturnType<typeof signedMessage>>,
): Promise<AttemptResult> => {
  try {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const answer = await guardedRequest(url, { method: 'POST', ...message, signal });
    answer.body.destroy();
    return { status: answer.statusCode };
  } catch (error) {
    if (error instanceof TargetRefusedError) return { error: 'target_refused' };
    const { name, code } = error as Error & { code?: unknown };
    if (name === 'TimeoutError') return { error: 'timeout' };
    return { error: typeof code === 'string' ? code : name };
  }
};

/** The subject of a webhook: the end of a request, or a balance event. */
interface WebhookSubject {
  id: string;
  accountId: string;
  /** Of a request. */
  model?: string;
  url: string;
  /** The end of the request, or the write of the event. */
  at: Instant;
  /** The body at this time: URLs in it are freshly signed. */
  render(now: Date): Promise<WebhookEvent>;
}

/**
 * The subject of the webhook with this id, strongly consistent. Undefined when the request or account is absent or has no
 * webhook, or the request is unfinished.
 */
const findSubject = async (id: string, now: Date): Promise<WebhookSubject | undefined> => {
  const ofBalance = parseBalanceEventId(id);
  if (ofBalance) return findBalanceSubject(ofBalance);
  const request = await findRequest(id);
  if (request?.webhookUrl === undefined || isRemoved(request, now)) return undefined;
  const { accountId, model, webhookUrl: url, kind, status, finishedAt: at = '' } = request;
  if (status !== 'succeeded' && status !== 'failed') return undefined;
  const render = async (sentAt: Date): Promise<WebhookEvent> => {
    const context = {
      now: sentAt,
      publicBaseUrl: requiredEnv('PUBLIC_BASE_URL'),
      signUrl: await loadUrlSigner(),
    };
    const type = `${kind === 'image' ? 'generation' : 'video'}.${status}` as const;
    return { type, timestamp: at, data: renderRecord(request, context) };
  };
  return { id, accountId, model, url, at, render };
};

/** Goes to the account's webhook of today: an attempt after a change goes to the new address. */
const findBalanceSubject = async ({
  eventId: id,
  accountId,
}: NonNullable<ReturnType<typeof parseBalanceEventId>>): Promise<WebhookSubject | undefined> => {
  const [event, account] = await Promise.all([findBalanceEvent(accountId, id), findAccount(accountId)]);
  const url = account?.balanceWebhook?.url;
  if (!event || url === undefined) return undefined;
  return { id, accountId, url, at: event.at, render: async () => balanceWebhookOf(event) };
};
