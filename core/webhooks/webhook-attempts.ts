import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { ATTEMPT_RETENTION_SECONDS } from '../provider-calls/provider-attempts.ts';
import { requestPartition, TTL_ATTRIBUTE, WEBHOOK_ATTEMPT_PREFIX, webhookAttemptKey } from '../table/keys.ts';
import { queryAll } from '../table/queries.ts';
import { table, tableName } from '../table/table.ts';
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
 * Access pattern 62: a request's webhook attempts by time, of all deliveries or of one. Strongly consistent.
 */
export const listWebhookAttempts = async (
  requestId: string,
  delivery?: string,
): Promise<WebhookAttempt[]> => {
  const query = {
    TableName: tableName(),
    KeyConditionExpression: 'PK = :request AND begins_with(SK, :attempts)',
    ExpressionAttributeValues: {
      ':request': requestPartition(requestId),
      ':attempts': delivery === undefined ? WEBHOOK_ATTEMPT_PREFIX : `${WEBHOOK_ATTEMPT_PREFIX}${delivery}#`,
    },
    ConsistentRead: true,
  };
  const attempts: WebhookAttempt[] = [];
  for await (const item of queryAll(query)) attempts.push(WebhookAttempt.parse(item));
  return attempts.sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
};

/** Access pattern 63: records an attempt. A repeated step overwrites its earlier attempt. */
export const putWebhookAttempt = async (attempt: WebhookAttempt): Promise<void> => {
  await table.send(
    new PutCommand({
      TableName: tableName(),
      Item: {
        ...webhookAttemptKey(attempt.requestId, attempt.delivery, attempt.number),
        ...attempt,
        [TTL_ATTRIBUTE]: toEpochSeconds(attempt.startedAt) + ATTEMPT_RETENTION_SECONDS,
      },
    }),
  );
};
