import { getAccount } from '../accounts/accounts.ts';
import { type Clock, systemClock } from '../clock.ts';
import { requiredEnv } from '../environment.ts';
import { loadUrlSigner } from '../files/signed-urls.ts';
import { countMetric, logger, METRIC } from '../observability.ts';
import { guardedRequest, TargetRefusedError } from '../outbound/guarded-http.ts';
import { renderRecord } from '../requests/render-record.ts';
import { isRemoved, isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { listWebhookAttempts, putWebhookAttempt, type WebhookAttempt } from './webhook-attempts.ts';
import {
  liveSecrets,
  nextAttemptSeconds,
  signatureHeaders,
  webhookEventOf,
  webhookIdOf,
} from './webhook-rules.ts';

/** What the delivery's state machine does next. */
export type DeliveryStep =
  /** The try failed: wait so many whole seconds for the next one. */
  | { next: 'wait'; waitSeconds: number }
  /** The receiver took it, or there is nothing left to tell. */
  | { next: 'stop' }
  /** It will not be delivered: the receiver is gone, its target refused, or all tries are spent. */
  | { next: 'give-up'; reason: 'gone' | 'refused' | 'spent' };

/** A receiver has so long to answer. */
const ANSWER_TIMEOUT_MS = 15_000;
const HTTP_GONE = 410;

/**
 * Makes one try to tell a request's end to its `webhookUrl`: the record as it reads now, freshly signed. The
 * answer's status alone counts; its body is not read. The try is recorded before anything follows from it.
 *
 * Any 2xx delivers it; 410 and a refused target end the delivery; anything else is tried again on schedule.
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
  const outcome = await send(url, request, startedAt);
  const milliseconds = clock.now().getTime() - startedAt.getTime();
  const number = earlier.length + 1;
  await putWebhookAttempt({
    requestId,
    delivery,
    number,
    startedAt: startedAt.toISOString(),
    milliseconds,
    ...outcome,
  });
  logger.info('webhook tried', { number, milliseconds, ...outcome });
  return stepAfter(outcome, number, random());
};

/** How a try ended: with an HTTP status or an error's class. */
type TryOutcome = Pick<WebhookAttempt, 'status' | 'error'>;

const REFUSED_TARGET = 'target_refused';

const send = async (url: string, request: StoredRequest, now: Date): Promise<TryOutcome> => {
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
    // TerminalState a body that goes on is an error to undici, which nobody else would hear: it would end the process.
    answer.body.on('error', () => undefined).destroy();
    return { status: answer.statusCode };
  } catch (error) {
    return { error: classOf(error) };
  }
};

/** A word for why there was no answer, for the operator. */
const classOf = (error: unknown): string => {
  if (error instanceof TargetRefusedError) return REFUSED_TARGET;
  const { name, code } = error as Error & { code?: unknown };
  if (name === 'TimeoutError') return 'timeout';
  return typeof code === 'string' ? code : name;
};

const stepAfter = ({ status, error }: TryOutcome, tries: number, random: number): DeliveryStep => {
  if (status !== undefined && status >= 200 && status < 300) return { next: 'stop' };
  if (status === HTTP_GONE) return givenUp('gone');
  if (error === REFUSED_TARGET) return givenUp('refused');
  const schedule = requiredEnv('WEBHOOK_RETRY_SECONDS').split(',').map(Number);
  const waitSeconds = nextAttemptSeconds(tries, schedule, random);
  return waitSeconds === undefined ? givenUp('spent') : { next: 'wait', waitSeconds };
};

const givenUp = (reason: 'gone' | 'refused' | 'spent'): DeliveryStep => {
  countMetric(METRIC.webhookGivenUp, { reason });
  return { next: 'give-up', reason };
};
