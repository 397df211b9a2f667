import { getAccount } from '../accounts/accounts.ts';
import { type Clock, systemClock } from '../clock.ts';
import { requiredEnv } from '../environment.ts';
import { loadUrlSigner } from '../files/signed-urls.ts';
import { countMetric, logger, METRIC } from '../observability.ts';
import { guardedRequest, TargetRefusedError } from '../outbound/guarded-http.ts';
import { renderRecord } from '../requests/render-record.ts';
import { isRemoved, isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { listWebhookAttempts, putWebhookAttempt } from './webhook-attempts.ts';
import {
  type AttemptResult,
  type DeliveryStep,
  liveSecrets,
  signatureHeaders,
  stepAfterAttempt,
  TARGET_REFUSED,
  webhookEventOf,
  webhookIdOf,
} from './webhook-rules.ts';

/** How long a receiver may take to answer. */
const ANSWER_TIMEOUT_MS = 15_000;

/**
 * Makes one attempt to deliver a terminal request's webhook: sends the record as it reads now, freshly signed,
 * records the attempt, then returns the next step. Only the status of the answer counts; its body is not read.
 */
export const deliverWebhook = async (
  requestId: string,
  delivery: string,
  clock: Clock = systemClock,
  random: () => number = Math.random,
): Promise<DeliveryStep> => {
  const request = await findRequest(requestId);
  const url = request?.webhookUrl;
  if (!request || url === undefined || !isTerminal(request) || isRemoved(request, clock.now())) {
    return { next: 'stop' };
  }
  const earlier = await listWebhookAttempts(requestId, delivery);
  const startedAt = clock.now();
  const result = await send(url, request, startedAt);
  const milliseconds = clock.now().getTime() - startedAt.getTime();
  const number = earlier.length + 1;
  await putWebhookAttempt({
    requestId,
    delivery,
    number,
    startedAt: startedAt.toISOString(),
    milliseconds,
    ...result,
  });
  logger.info('webhook attempted', { number, milliseconds, ...result });
  const step = stepAfterAttempt(result, number, retrySchedule(), random());
  if (step.next === 'give-up') countMetric(METRIC.webhookGivenUp, { reason: step.reason });
  return step;
};

/** The pauses after each failed attempt, in seconds. */
const retrySchedule = (): number[] => requiredEnv('WEBHOOK_RETRY_SECONDS').split(',').map(Number);

const send = async (url: string, request: StoredRequest, now: Date): Promise<AttemptResult> => {
  const [account, signUrl] = await Promise.all([getAccount(request.accountId), loadUrlSigner()]);
  const record = renderRecord(request, { now, publicBaseUrl: requiredEnv('PUBLIC_BASE_URL'), signUrl });
  const body = JSON.stringify(webhookEventOf(request, record));
  const signature = signatureHeaders(webhookIdOf(request.requestId), body, liveSecrets(account, now), now);
  try {
    const answer = await guardedRequest(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signature },
      body,
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    // Destroying an unfinished body makes undici emit an error; without a listener it would end the process.
    answer.body.on('error', () => undefined).destroy();
    return { status: answer.statusCode };
  } catch (error) {
    return { error: classOf(error) };
  }
};

/** The class of an error, in a word for an operator. */
const classOf = (error: unknown): string => {
  if (error instanceof TargetRefusedError) return TARGET_REFUSED;
  const { name, code } = error as Error & { code?: unknown };
  if (name === 'TimeoutError') return 'timeout';
  return typeof code === 'string' ? code : name;
};
