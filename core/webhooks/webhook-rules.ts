import { createHmac } from 'node:crypto';
import type { Account } from '../accounts/accounts.ts';
import type { RequestRecord } from '../requests/render-record.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { type Instant, toEpochSeconds, toInstant } from '../time.ts';

/** The id of the event that a request's end is: the same on every try, and when an operator sends it again. */
export const webhookIdOf = (requestId: string): string => `msg_${requestId}`;

/** What is told of a request's end. `type` says how it ended, and stays when the record in it has expired. */
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

/** The secrets deliveries are signed with now: the current one and, for a day after a rotation, the one before. */
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
 * for each secret, over id, time and body.
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

/** How much earlier or later than planned a try may come, so that many that failed together do not come together. */
const JITTER = 0.1;

/**
 * Whole seconds until the next try after so many have failed; undefined when all of the schedule's are spent.
 * `random` is from 0 to 1.
 */
export const nextAttemptSeconds = (
  failedTries: number,
  scheduleSeconds: readonly number[],
  random: number,
): number | undefined => {
  const planned = scheduleSeconds[failedTries - 1];
  return planned === undefined ? undefined : Math.round(planned * (1 - JITTER + 2 * JITTER * random));
};
