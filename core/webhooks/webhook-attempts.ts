import * as z from 'zod/mini';
import { readableItems } from '../observability.ts';
import { ATTEMPT_RETENTION_SECONDS } from '../provider-calls/provider-attempts.ts';
import {
  TTL_ATTRIBUTE,
  WEBHOOK_ATTEMPT_PREFIX,
  webhookAttemptKey,
  webhookAttemptPartition,
  webhookAttemptsEndKey,
} from '../table/keys.ts';
import { partitionQuery, putWrite, queryItems, tableName } from '../table/table.ts';
import { refusedBy, type TransactItem, transact } from '../table/transactions.ts';
import { toEpochSeconds } from '../time.ts';

/**
 * One attempt of a webhook delivery, as stored. `delivery` is the name of the execution that made it: the request
 * id for the first delivery, longer for one an operator started. Either `status` (HTTP) or `error` is set.
 */
export const WebhookAttempt = z.object({
  requestId: z.string(),
  delivery: z.string(),
  /** Counts the attempts of its delivery, from 1. */
  number: z.number(),
  startedAt: z.string(),
  milliseconds: z.number(),
  status: z.optional(z.number()),
  error: z.optional(z.string()),
});
export type WebhookAttempt = z.infer<typeof WebhookAttempt>;

/**
 * Access pattern 72: a request's webhook attempts by time, of all deliveries or of one. Leaves out those that cannot be read. Strongly
 * consistent.
 */
export const listWebhookAttempts = async (
  requestId: string,
  delivery?: string,
): Promise<WebhookAttempt[]> => {
  const prefix = delivery === undefined ? WEBHOOK_ATTEMPT_PREFIX : `${WEBHOOK_ATTEMPT_PREFIX}${delivery}#`;
  const items = await queryItems(partitionQuery(webhookAttemptPartition(requestId), prefix));
  const attempts = readableItems(items, (item) => WebhookAttempt.parse(item));
  return attempts.sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
};

/**
 * Access pattern 73: records an attempt, over an earlier one of the same number. Does nothing once the request is deleted: an attempt must
 * not outlive a deletion that came while the receiver was called.
 */
export const putWebhookAttempt = (attempt: WebhookAttempt): Promise<void> => {
  const writes: TransactItem[] = [
    {
      ConditionCheck: {
        TableName: tableName(),
        Key: webhookAttemptsEndKey(attempt.requestId),
        ConditionExpression: 'attribute_not_exists(PK)',
      },
    },
    putWrite({
      ...webhookAttemptKey(attempt.requestId, attempt.delivery, attempt.number),
      ...attempt,
      [TTL_ATTRIBUTE]: toEpochSeconds(attempt.startedAt) + ATTEMPT_RETENTION_SECONDS,
    }),
  ];
  return transact((refusals) => (refusedBy(refusals, 0) ? [] : writes));
};
