import { createHmac } from 'node:crypto';
import { decodeTime, ulid } from 'ulid';
import type { Account } from '../accounts/accounts.ts';
import type { BalanceEventData } from '../accounts/balance-event-answers.ts';
import type { BalanceEvent } from '../accounts/balance-events.ts';
import type { WebhookAttempt } from '../deliveries/webhook-attempts.ts';
import type { NextAttempt } from '../executions/executions.ts';
import { toXTokens } from '../money.ts';
import type { RequestRecord, WebhookType } from '../requests/records.ts';
import { type Instant, SECONDS_PER_DAY, toEpochSeconds, toInstant } from '../time.ts';

/** The id of the event of a request or balance: the same in every attempt and every delivery. */
export const webhookIdOf = (subjectId: string): string => `msg_${subjectId}`;

/** Suffix after the subject's id in the name of a delivery that an operator started at `now`. */
export const newDeliverySuffix = (now: Date): string => `-${ulid(now.getTime())}`;

/** Suffix in the name of the delivery that follows one that failed at `failedAt`: always the same. */
export const followingDeliverySuffix = (failedAt: Date): string => `-${ulid(failedAt.getTime(), () => 0)}`;

/** The start of a delivery: its event, an operator's request, or the failure of the previous delivery. */
export const deliveryStartedAt = (delivery: string, { id, at }: { id: string; at: Instant }): Instant =>
  delivery === id ? at : toInstant(new Date(decodeTime(delivery.slice(id.length + 1))));

/** The body of a webhook. `type` is how the request ended, and stays `succeeded` when its record has expired. */
export interface WebhookEvent {
  type: WebhookType;
  /** The end of the request, or the change of the balance. */
  timestamp: Instant;
  data: RequestRecord | BalanceEventData;
}

/** The event of a balance. */
export const balanceWebhookOf = (event: BalanceEvent): WebhookEvent & { data: BalanceEventData } => {
  const { type, at, accountId, balanceThousandths, belowThousandths, priceThousandths } = event;
  const data = {
    accountId,
    xTokens: toXTokens(balanceThousandths),
    ...(belowThousandths !== undefined && { below: toXTokens(belowThousandths) }),
    ...(priceThousandths !== undefined && { required: toXTokens(priceThousandths) }),
  };
  return { type, timestamp: at, data };
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

/** A delivery is given up by then, a day before its execution of `webhook-delivery` times out without counting it. */
const MAX_DELIVERY_SECONDS = 13 * SECONDS_PER_DAY;

/** Whether a delivery by this schedule may still run when it has to be given up. */
export const isTooLong = (scheduleSeconds: readonly number[]): boolean => {
  const longest = scheduleSeconds.map((_, index) => nextAttemptSeconds(index + 1, scheduleSeconds, 1) ?? 0);
  return longest.reduce((sum, seconds) => sum + seconds, 0) > MAX_DELIVERY_SECONDS;
};

/** The next step of the `webhook-delivery` state machine. */
export type DeliveryStep =
  /** The attempt failed or could not be made yet: make the next attempt after the given seconds. */
  | ({ next: 'wait' } & NextAttempt)
  /** The receiver accepted it, or the request was deleted. */
  | { next: 'stop' }
  /** The receiver is gone, or every attempt was made. */
  | { next: 'give-up'; reason: 'gone' | 'spent' };

/** The result of an attempt: an HTTP status, or the class of an error. */
export type AttemptResult = Pick<WebhookAttempt, 'status' | 'error'>;

const HTTP_GONE = 410;

/**
 * The next step after attempt `number`. Any 2xx ends the delivery as delivered and 410 as not delivered; anything else,
 * a refused address among it, is attempted again until the schedule is spent: a name may resolve otherwise by then.
 */
export const stepAfterAttempt = (
  { status }: AttemptResult,
  number: number,
  scheduleSeconds: readonly number[],
  random: number,
): DeliveryStep => {
  if (status !== undefined && status >= 200 && status < 300) return { next: 'stop' };
  if (status === HTTP_GONE) return { next: 'give-up', reason: 'gone' };
  const waitSeconds = nextAttemptSeconds(number, scheduleSeconds, random);
  return waitSeconds === undefined
    ? { next: 'give-up', reason: 'spent' }
    : { next: 'wait', waitSeconds, attemptsMade: number };
};

/** Shortest and longest wait of an attempt that finds no free place, or a host in back-off. */
const MIN_POSTPONED_SECONDS = 10;
const MAX_POSTPONED_SECONDS = 1_800;
/** A delivery is given up no earlier than after this, however short the schedule. */
const MIN_POSTPONED_IN_ALL_SECONDS = SECONDS_PER_DAY;

/**
 * The next step when an attempt could not be made. The attempt does not count. The wait is half the age of
 * the delivery, from 10 s up to 30 min, with jitter, and not before `notBefore`. Gives a delivery up once it
 * is twice as old as its whole schedule and at least a day, and in any case at 13 days.
 */
export const stepWhenPostponed = (
  {
    startedAt,
    notBefore,
    now,
    attemptsMade,
  }: { startedAt: Instant; notBefore: Instant | undefined; now: Date; attemptsMade: number },
  scheduleSeconds: readonly number[],
  random: number,
): DeliveryStep => {
  const ageSeconds = (now.getTime() - Date.parse(startedAt)) / 1000;
  const inAll = 2 * scheduleSeconds.reduce((sum, seconds) => sum + seconds, 0);
  const limit = Math.min(Math.max(inAll, MIN_POSTPONED_IN_ALL_SECONDS), MAX_DELIVERY_SECONDS);
  if (ageSeconds > limit) return { next: 'give-up', reason: 'spent' };
  const spread = Math.min(MAX_POSTPONED_SECONDS, Math.max(MIN_POSTPONED_SECONDS, ageSeconds / 2));
  const untilAllowed = notBefore === undefined ? 0 : (Date.parse(notBefore) - now.getTime()) / 1000;
  const waitSeconds = Math.ceil(Math.max(untilAllowed, 0) + spread * (0.5 + random / 2));
  return { next: 'wait', waitSeconds, attemptsMade };
};

/** A receiver hangs when it answers after this, or has not answered or let us connect after the second. */
const SLOW_ANSWER_MS = 10_000;
const SLOW_FAILURE_MS = 4_000;

/** Whether an attempt shows that the host hangs, so that other deliveries should not wait for the host. */
export const isHanging = ({ error }: AttemptResult, milliseconds: number): boolean =>
  error === 'timeout' || milliseconds >= (error === undefined ? SLOW_ANSWER_MS : SLOW_FAILURE_MS);

const FIRST_BACK_OFF_SECONDS = 30;
const MAX_BACK_OFF_SECONDS = 1_800;

/** The back-off for a host after this many hangs in a row: 30 s, doubling up to 30 min. */
export const backOffSeconds = (hangs: number): number =>
  Math.min(MAX_BACK_OFF_SECONDS, FIRST_BACK_OFF_SECONDS * 2 ** Math.min(hangs - 1, 10));
