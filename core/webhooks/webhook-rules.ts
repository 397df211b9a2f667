import { createHmac } from 'node:crypto';
import type { Account } from '../accounts/accounts.ts';
import type { RequestRecord } from '../requests/render-record.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { type Instant, toEpochSeconds, toInstant } from '../time.ts';
import type { WebhookAttempt } from './webhook-attempts.ts';

/** The id of a request's event: the same in every attempt and every delivery. */
export const webhookIdOf = (requestId: string): string => `msg_${requestId}`;

/** The body of a webhook. `type` is how the request ended, and stays `succeeded` when its record has expired. */
export interface WebhookEvent {
  type: `${'generation' | 'video'}.${'succeeded' | 'failed'}`;
  /** When the request ended. */
  timestamp: Instant;
  data: RequestRecord;
}

/** The event of a terminal request. Throws when it is not terminal. */
export const webhookEventOf = (request: StoredRequest, data: RequestRecord): WebhookEvent => {
  const { kind, status, finishedAt } = request;
  if ((status !== 'succeeded' && status !== 'failed') || finishedAt === undefined) {
    throw new Error(`Request ${request.requestId} is ${status}: there is nothing to tell.`);
  }
  return { type: `${kind === 'image' ? 'generation' : 'video'}.${status}`, timestamp: finishedAt, data };
};

/** The secrets to sign with: the current one and, for a day after a rotation, the previous one. */
export const liveSecrets = (
  account: Pick<Account, 'webhookSecret' | 'previousWebhookSecret' | 'previousValidUntil'>,
  now: Date,
): string[] => {
  const { webhookSecret, previousWebhookSecret: previous, previousValidUntil: until = '' } = account;
  return previous !== undefined && toInstant(now) < until ? [webhookSecret, previous] : [webhookSecret];
};

const SECRET_PREFIX = 'whsec_';

/**
 * The headers that sign a body by the Standard Webhooks scheme
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md): one signature
 * per secret, over id, time and body.
 */
export const signatureHeaders = (
  webhookId: string,
  body: string,
  secrets: readonly string[],
  now: Date,
): Record<string, string> => {
  const timestamp = String(toEpochSeconds(toInstant(now)));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    const digest = createHmac('sha256', key).update(`${webhookId}.${timestamp}.${body}`).digest('base64');
    return `v1,${digest}`;
  });
  return {
    'webhook-id': webhookId,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
};

/** Attempts come up to 10 % early or late, so that deliveries that failed together spread out. */
const JITTER = 0.1;

/**
 * Whole seconds until the next attempt after `failedAttempts`; undefined when the schedule is spent. `random` is
 * from 0 to 1.
 */
export const nextAttemptSeconds = (
  failedAttempts: number,
  scheduleSeconds: readonly number[],
  random: number,
): number | undefined => {
  const planned = scheduleSeconds[failedAttempts - 1];
  return planned === undefined ? undefined : Math.round(planned * (1 - JITTER + 2 * JITTER * random));
};

/** What the `webhook-delivery` state machine does next. */
export type DeliveryStep =
  /** The attempt failed: make the next one after this many whole seconds. */
  | { next: 'wait'; waitSeconds: number }
  /** The receiver accepted it, or the request was deleted. */
  | { next: 'stop' }
  /** The receiver is gone, its address is refused, or every attempt was made. */
  | { next: 'give-up'; reason: GiveUpReason };

/** Why a delivery ended without success. */
export type GiveUpReason = 'gone' | 'refused' | 'spent';

/** How an attempt ended: with an HTTP status or an error's class. */
export type AttemptResult = Pick<WebhookAttempt, 'status' | 'error'>;

/** The error class of an attempt whose address `TargetRefusedError` refused. */
export const TARGET_REFUSED = 'target_refused';

const HTTP_GONE = 410;

/**
 * The next step after attempt `number`. Any 2xx ends the delivery as delivered; 410 and a refused address end
 * it as not delivered; anything else is attempted again until the schedule is spent.
 */
export const stepAfterAttempt = (
  { status, error }: AttemptResult,
  number: number,
  scheduleSeconds: readonly number[],
  random: number,
): DeliveryStep => {
  if (status !== undefined && status >= 200 && status < 300) return { next: 'stop' };
  if (status === HTTP_GONE) return { next: 'give-up', reason: 'gone' };
  if (error === TARGET_REFUSED) return { next: 'give-up', reason: 'refused' };
  const waitSeconds = nextAttemptSeconds(number, scheduleSeconds, random);
  return waitSeconds === undefined ? { next: 'give-up', reason: 'spent' } : { next: 'wait', waitSeconds };
};
