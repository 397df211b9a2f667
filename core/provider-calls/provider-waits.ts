import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { setAll } from '../table/expressions.ts';
import { providerWaitKey, TTL_ATTRIBUTE } from '../table/keys.ts';
import { type StoredItem, table, tableName } from '../table/table.ts';
import { addSeconds, type Instant, toEpochSeconds, toInstant } from '../time.ts';
import { ATTEMPT_RETENTION_SECONDS } from './provider-attempts.ts';

/**
 * How a request waits for its provider: `taskToken` wakes its execution, `queriedAt` is when the provider was
 * asked last, `calledBackAt` when it last called back, `waitingSince` when the execution began to wait.
 */
export const ProviderWait = z.object({
  requestId: z.string(),
  taskToken: z.optional(z.string()),
  waitingSince: z.optional(z.string()),
  queriedAt: z.optional(z.string()),
  calledBackAt: z.optional(z.string()),
});
export type ProviderWait = z.infer<typeof ProviderWait>;

export const toProviderWait = (item: StoredItem): ProviderWait => ProviderWait.parse(item);

/** Access pattern 18: how a request waits, strongly consistent; undefined before anything has happened. */
export const findProviderWait = async (requestId: string): Promise<ProviderWait | undefined> => {
  const { Item } = await table.send(
    new GetCommand({ TableName: tableName(), Key: providerWaitKey(requestId), ConsistentRead: true }),
  );
  return Item && toProviderWait(Item);
};

/** Keeps the token that wakes the execution from now on, in place of an earlier one. Gives all that is known. */
export const keepTaskToken = (requestId: string, taskToken: string, now: Date): Promise<ProviderWait> =>
  note(requestId, { taskToken, waitingSince: toInstant(now) }, now);

/** Notes that the provider called back: whoever waits from now on knows that there is news. */
export const noteCallback = (requestId: string, now: Date): Promise<ProviderWait> =>
  note(requestId, { calledBackAt: toInstant(now) }, now);

/** Notes that the provider is being asked. */
export const noteQuery = (requestId: string, now: Date): Promise<ProviderWait> =>
  note(requestId, { queriedAt: toInstant(now) }, now);

/** Whether the provider was asked so lately that asking again would tell nothing new. */
export const queriedWithin = (wait: ProviderWait | undefined, seconds: number, now: Date): boolean =>
  wait?.queriedAt !== undefined && wait.queriedAt > addSeconds(toInstant(now), -seconds);

/**
 * Claims the right to ask the provider: of all who try within `seconds` of the last question, none gets it.
 * Undefined when it was refused.
 */
export const claimQuery = async (
  requestId: string,
  seconds: number,
  now: Date,
): Promise<ProviderWait | undefined> => {
  try {
    return await note(requestId, { queriedAt: toInstant(now) }, now, {
      condition: 'attribute_not_exists(queriedAt) OR queriedAt <= :before',
      values: { ':before': addSeconds(toInstant(now), -seconds) },
    });
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
};

const note = async (
  requestId: string,
  attributes: Record<string, Instant | string>,
  now: Date,
  guard?: { condition: string; values: Record<string, string> },
): Promise<ProviderWait> => {
  const all = {
    requestId,
    ...attributes,
    [TTL_ATTRIBUTE]: toEpochSeconds(toInstant(now)) + ATTEMPT_RETENTION_SECONDS,
  };
  const { Attributes } = await table.send(
    new UpdateCommand({
      TableName: tableName(),
      Key: providerWaitKey(requestId),
      ...setAll(all, guard?.values),
      ...(guard ? { ConditionExpression: guard.condition } : {}),
      ReturnValues: 'ALL_NEW',
    }),
  );
  return toProviderWait(Attributes ?? {});
};
