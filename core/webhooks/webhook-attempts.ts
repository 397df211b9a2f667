import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { ATTEMPT_RETENTION_SECONDS } from '../provider-calls/provider-attempts.ts';
import { requestPartition, TTL_ATTRIBUTE, WEBHOOK_ATTEMPT_PREFIX, webhookAttemptKey } from '../table/keys.ts';
import { queryAll } from '../table/queries.ts';
import { table, tableName } from '../table/table.ts';
import { toEpochSeconds } from '../time.ts';

/**
 * One try to deliver a request's webhook, as stored. `delivery` is the execution that made it: the first one is
 * named by the request, later ones are an operator's. Exactly one of `status` (HTTP) and `error` is there.
 */
export const WebhookAttempt = z.object({
  requestId: z.string(),
  delivery: z.string(),
  /** Counts the tries of its delivery, from 1. */
  number: z.number(),
  startedAt: z.string(),
  milliseconds: z.number(),
  status: z.optional(z.number()),
  error: z.optional(z.string()),
});
export type WebhookAttempt = z.infer<typeof WebhookAttempt>;

/** Access pattern 14: the tries of a request's webhook in time order, or those of one delivery. Consistent. */
export const listWebhookAttempts = async (
  requestId: string,
  delivery?: string,
): Promise<WebhookAttempt[]> => {
  const query = {
    TableName: tableName(),
    KeyConditionExpression: 'PK = :request AND begins_with(SK, :tries)',
    ExpressionAttributeValues: {
      ':request': requestPartition(requestId),
      ':tries': delivery === undefined ? WEBHOOK_ATTEMPT_PREFIX : `${WEBHOOK_ATTEMPT_PREFIX}${delivery}#`,
    },
    ConsistentRead: true,
  };
  const tries: WebhookAttempt[] = [];
  for await (const item of queryAll(query)) tries.push(WebhookAttempt.parse(item));
  return tries.sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
};

/** Records a try. Made again by a repeated step, the later one stands. */
export const putWebhookAttempt = async (made: WebhookAttempt): Promise<void> => {
  await table.send(
    new PutCommand({
      TableName: tableName(),
      Item: {
        ...webhookAttemptKey(made.requestId, made.delivery, made.number),
        ...made,
        [TTL_ATTRIBUTE]: toEpochSeconds(made.startedAt) + ATTEMPT_RETENTION_SECONDS,
      },
    }),
  );
};
