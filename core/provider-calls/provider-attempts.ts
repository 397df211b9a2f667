import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { Failure } from '../errors.ts';
import {
  PROVIDER_ATTEMPT_PREFIX,
  providerAttemptKey,
  requestPartition,
  TTL_ATTRIBUTE,
} from '../table/keys.ts';
import { queryAll } from '../table/queries.ts';
import { table, tableName } from '../table/table.ts';
import { SECONDS_PER_DAY, toEpochSeconds, toInstant } from '../time.ts';
import type { ProviderAnswer } from './providers.ts';

/** What a call came to. `accepted` is replaced by the task's own outcome once that is known. */
const Outcome = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('accepted'), taskId: z.string() }),
  z.object({
    kind: z.literal('done'),
    outputs: z.array(z.union([z.object({ url: z.string() }), z.object({ failure: Failure })])),
  }),
  z.object({ kind: z.literal('failed'), failure: Failure }),
  z.object({ kind: z.literal('busy'), reason: z.string() }),
  z.object({ kind: z.literal('lost'), failure: Failure }),
]);
export type AttemptOutcome = z.infer<typeof Outcome>;

/**
 * One creation call to a provider, as stored: written before the call is made, so that a call whose outcome
 * was never learned is known to have been made. `call` is its place in the request's plan, `attempt` counts
 * its tries. While the caller lives it moves `aliveAt`.
 */
export const ProviderAttempt = z.object({
  requestId: z.string(),
  call: z.number(),
  attempt: z.number(),
  startedAt: z.string(),
  aliveAt: z.string(),
  finishedAt: z.optional(z.string()),
  taskId: z.optional(z.string()),
  outcome: z.optional(Outcome),
});
export type ProviderAttempt = z.infer<typeof ProviderAttempt>;

/** Attempts are for operators and outlive a record of the default retention: 23 h, then 90 days. */
export const ATTEMPT_RETENTION_SECONDS = 100 * SECONDS_PER_DAY;

/** Access pattern 8: the provider calls of a request in the order of its plan, then of their tries. Consistent. */
export const listAttempts = async (requestId: string): Promise<ProviderAttempt[]> => {
  const attempts: ProviderAttempt[] = [];
  const query = {
    TableName: tableName(),
    KeyConditionExpression: 'PK = :request AND begins_with(SK, :attempts)',
    ExpressionAttributeValues: {
      ':request': requestPartition(requestId),
      ':attempts': PROVIDER_ATTEMPT_PREFIX,
    },
    ConsistentRead: true,
  };
  for await (const item of queryAll(query)) attempts.push(ProviderAttempt.parse(item));
  return attempts;
};

/** Claims the right to make a call. Undefined when someone else has it: then the call must not be made. */
export const claimAttempt = async (
  requestId: string,
  call: number,
  attempt: number,
  now: Date,
): Promise<ProviderAttempt | undefined> => {
  const startedAt = toInstant(now);
  const claimed: ProviderAttempt = { requestId, call, attempt, startedAt, aliveAt: startedAt };
  // The client tries again when an answer is lost: then what refuses the claim may be the claim itself.
  const claimId = randomUUID();
  try {
    await table.send(
      new PutCommand({
        TableName: tableName(),
        Item: {
          ...providerAttemptKey(requestId, call, attempt),
          ...claimed,
          claimId,
          [TTL_ATTRIBUTE]: toEpochSeconds(startedAt) + ATTEMPT_RETENTION_SECONDS,
        },
        ConditionExpression: 'attribute_not_exists(PK)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return claimed;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return error.Item && unmarshall(error.Item).claimId === claimId ? claimed : undefined;
  }
};

/** Says that whoever makes the call is alive. */
export const keepAttemptAlive = async (attempt: ProviderAttempt, now: Date): Promise<void> => {
  await table.send(
    new UpdateCommand({
      TableName: tableName(),
      Key: providerAttemptKey(attempt.requestId, attempt.call, attempt.attempt),
      UpdateExpression: 'SET aliveAt = :now',
      ConditionExpression: 'attribute_exists(PK)',
      ExpressionAttributeValues: { ':now': toInstant(now) },
    }),
  );
};

/**
 * Records what a call came to, over nothing or over `accepted`. The first final outcome stands: the stored
 * one is returned, which is another's when that came first.
 */
export const recordOutcome = async (
  attempt: ProviderAttempt,
  answer: Exclude<ProviderAnswer, { kind: 'waiting' }>,
  now: Date,
): Promise<ProviderAttempt> => {
  const accepted = answer.kind === 'accepted';
  try {
    const { Attributes } = await table.send(
      new UpdateCommand({
        TableName: tableName(),
        Key: providerAttemptKey(attempt.requestId, attempt.call, attempt.attempt),
        UpdateExpression: `SET outcome = :outcome, ${accepted ? 'taskId = :task' : 'finishedAt = :now'}`,
        ConditionExpression:
          'attribute_exists(PK) AND (attribute_not_exists(outcome) OR outcome.kind = :accepted)',
        ExpressionAttributeValues: {
          ':outcome': answer,
          ':accepted': 'accepted',
          ...(accepted ? { ':task': answer.taskId } : { ':now': toInstant(now) }),
        },
        ReturnValues: 'ALL_NEW',
      }),
    );
    return ProviderAttempt.parse(Attributes);
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    const stored = (await listAttempts(attempt.requestId)).find(
      ({ call, attempt: number }) => call === attempt.call && number === attempt.attempt,
    );
    if (!stored) throw error;
    return stored;
  }
};
