import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { requestPartition, TTL_ATTRIBUTE, WEBHOOK_TRY_PREFIX, webhookTryKey } from './keys.ts';
import { ATTEMPT_RETENTION_SECONDS } from './provider-attempts.ts';
import { queryAll, table, tableName } from './table.ts';
import { toEpochSeconds } from './time.ts';

/**
 * One try to deliver a request's webhook, as stored. `delivery` is the execution that made it: the first one is
 * named by the request, later ones are an operator's. Exactly one of `status` (HTTP) and `error` is there.
 */
export const WebhookTry = z.object({
  requestId: z.string(),
  delivery: z.string(),
  /** Counts the tries of its delivery, from 1. */
  number: z.number(),
  startedAt: z.string(),
  milliseconds: z.number(),
  status: z.optional(z.number()),
  error: z.optional(z.string()),
});
export type WebhookTry = z.infer<typeof WebhookTry>;

/** Access pattern 14: the tries of a request's webhook in time order, or those of one delivery. Consistent. */
export const listWebhookTries = async (requestId: string, delivery?: string): Promise<WebhookTry[]> => {
  const query = {
    TableName: tableName(),
    KeyConditionExpression: 'PK = :request AND begins_with(SK, :tries)',
    ExpressionAttributeValues: {
      ':request': requestPartition(requestId),
      ':tries': delivery === undefined ? WEBHOOK_TRY_PREFIX : `${WEBHOOK_TRY_PREFIX}${delivery}#`,
    },
    ConsistentRead: true,
  };
  const tries: WebhookTry[] = [];
  for await (const item of queryAll(query)) tries.push(WebhookTry.parse(item));
  return tries.sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
};

/** Records a try. Made again by a repeated step, the later one stands. */
export const putWebhookTry = async (made: WebhookTry): Promise<void> => {
  await table.send(
    new PutCommand({
      TableName: tableName(),
      Item: {
        ...webhookTryKey(made.requestId, made.delivery, made.number),
        ...made,
        [TTL_ATTRIBUTE]: toEpochSeconds(made.startedAt) + ATTEMPT_RETENTION_SECONDS,
      },
    }),
  );
};
