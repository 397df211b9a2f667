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

/** The outcome of a call. `accepted` is replaced by the task's own outcome. */
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
 * One attempt of a creation call to a provider, as stored. It is written before the call, so that a call whose
 * outcome was never learned is known to have been made. `call` is the call's index in the plan, `attempt`
 * counts from 0. The process that makes the call keeps `aliveAt` current.
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

/** Attempts are for operators. They outlive a record, which by default is kept for 23 h and then 90 days. */
export const ATTEMPT_RETENTION_SECONDS = 100 * SECONDS_PER_DAY;

/**
 * Access pattern 50: a request's provider calls in plan order, each call's attempts in order. Strongly
 * consistent.
 */
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

/**
 * Access pattern 51: claims an attempt. Undefined when another run has claimed it: then the call must not be
 * made.
 */
export const claimAttempt = async (
  requestId: string,
  call: number,
  attempt: number,
  now: Date,
): Promise<ProviderAttempt | undefined> => {
  const startedAt = toInstant(now);
  const claimed: ProviderAttempt = { requestId, call, attempt, startedAt, aliveAt: startedAt };
  // When a response is lost, the SDK retries the put, and our own first put refuses the second.
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

/**
 * Access pattern 52: marks the process that makes the call as alive. Throws when the attempt does not exist.
 */
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
 * Access pattern 53: records a call's outcome, unless it has a final one already: the first final outcome
 * stands. Returns the attempt as stored, which may hold another run's outcome. Throws when the attempt does
 * not exist.
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
