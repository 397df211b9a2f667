import { findAccount, getAccount } from '../accounts/accounts.ts';
import { findBalanceEvent } from '../accounts/balance-events.ts';
import { accountLimit, hostLimit, withinLimits } from '../concurrency/in-flight.ts';
import { requiredEnv } from '../environment.ts';
import { loadUrlSigner } from '../files/signed-urls.ts';
import { guardedRequest, TargetRefusedError } from '../guarded-http/guarded-http.ts';
import { parseBalanceEventId } from '../ids.ts';
import { countMetric, logger, METRIC, measure } from '../observability.ts';
import { renderRecord } from '../requests/render-record.ts';
import { isRemoved } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { type Clock, type Instant, systemClock, toInstant } from '../time.ts';
import { listWebhookAttempts, putWebhookAttempt } from './webhook-attempts.ts';
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

/** How long a receiver may take to answer. */
const ANSWER_TIMEOUT_MS = 15_000;

/**
 * How many webhooks of an account may be under way at once: in all, to one host, and to a host that hung. All accounts share the concurrency of
 * `deliver-webhook`, and nothing else.
 */
export const WEBHOOK_SLOTS = { account: 20, host: 10, hangingHost: 1 };
/** Longer than an attempt: its time limit, and what is read and written around it. */
const LEASE_SECONDS = 30;

/**
 * Makes one attempt to deliver the webhook of a terminal request, or of a balance event. Sends the record as it reads now, freshly signed,
 * records the attempt, and returns the next step. Only the status of the answer counts; its body is not read.
 *
 * Postpones the attempt while the account has no slot left, or backs off from the host because it hung. Returns when to come back.
 */
export const deliverWebhook = async (
  subjectId: string,
  delivery: string,
  clock: Clock = systemClock,
  random: () => number = Math.random,
): Promise<DeliveryStep> => {
  const now = clock.now();
  const subject = await findSubject(subjectId, now);
  if (!subject) return { next: 'stop' };
  const { accountId, url } = subject;
  const [earlier, backOff] = await Promise.all([
    listWebhookAttempts(subjectId, delivery),
    findHostBackOff(accountId, url, now),
  ]);
  // By number: an attempt that cannot be read is left out of the list, and counts all the same.
  const number = Math.max(0, ...earlier.map((one) => one.number)) + 1;
  const attempt = () => attemptDelivery(subject, { delivery, number, backOff, clock });
  const isAllowed = backOff === undefined || backOff.notBefore <= toInstant(now);
  const made = isAllowed ? await withinLimits(limitsOf(accountId, url, backOff), clock, attempt) : undefined;
  const step = made
    ? stepAfterAttempt(made.result, number, retrySchedule(), random())
    : stepWhenPostponed(
        { startedAt: deliveryStartedAt(delivery, subject), notBefore: backOff?.notBefore, now },
        retrySchedule(),
        random(),
      );
  if (!made) logger.info('webhook postponed', { ...step });
  if (step.next === 'give-up') {
    logger.warn('webhook given up', { reason: step.reason });
    countMetric(METRIC.webhookGivenUp, {});
  }
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

const attemptDelivery = async (
  subject: WebhookSubject,
  {
    delivery,
    number,
    backOff,
    clock,
  }: { delivery: string; number: number; backOff: HostBackOff | undefined; clock: Clock },
): Promise<AttemptResult> => {
  const { id: requestId, accountId, url, at } = subject;
  const message = await signedMessage(subject, clock.now());
  // From here on, so that a slow read of ours does not count as a receiver that hangs.
  const startedAt = clock.now();
  const result = await send(url, message);
  const milliseconds = clock.now().getTime() - startedAt.getTime();
  const made = { requestId, delivery, number, milliseconds, ...result };
  await putWebhookAttempt({ ...made, startedAt: toInstant(startedAt) });
  const sinceEndSeconds = (startedAt.getTime() - Date.parse(at)) / 1000;
  logger.info('webhook attempted', { ...made, accountId, sinceEndSeconds });
  // Later attempts, and deliveries that an operator started, are as late as the receiver makes them.
  if (number === 1 && delivery === requestId) measure(METRIC.webhookLag, {}, sinceEndSeconds);
  if (isHanging(result, milliseconds)) await backOffFrom(accountId, url, backOff, clock.now());
  else if (backOff) await endBackOff(accountId, url, backOff);
  return result;
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

/** What a webhook reports: the end of a request, or an event of a balance. */
interface WebhookSubject {
  id: string;
  accountId: string;
  url: string;
  /** When the request ended, or the event was written. */
  at: Instant;
  /** The body at this time: URLs in it are freshly signed. */
  render(now: Date): Promise<WebhookEvent>;
}

/**
 * What the webhook with this id reports, strongly consistent. Undefined when there is nothing to report: the request or account is gone, or
 * has no webhook, or the request is unfinished.
 */
const findSubject = async (id: string, now: Date): Promise<WebhookSubject | undefined> => {
  const ofBalance = parseBalanceEventId(id);
  if (ofBalance) return findBalanceSubject(ofBalance);
  const request = await findRequest(id);
  if (request?.webhookUrl === undefined || isRemoved(request, now)) return undefined;
  const { accountId, webhookUrl: url, kind, status, finishedAt: at = '' } = request;
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
  return { id, accountId, url, at, render };
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
