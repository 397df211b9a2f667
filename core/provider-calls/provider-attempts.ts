import * as z from 'zod/mini';
import { StoredFailure } from '../errors.ts';
import { countMetric, METRIC } from '../observability.ts';
import type { ProviderId } from '../provider-names.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { toRequest } from '../requests/requests.ts';
import {
  PROVIDER_ATTEMPT_PREFIX,
  providerAttemptKey,
  REQUEST_SORT,
  requestPartition,
} from '../table/keys.ts';
import {
  partitionQuery,
  queryAll,
  queryItems,
  rangeQuery,
  type UpdateParts,
  updateOf,
} from '../table/table.ts';
import { writeItem, writeOnCondition, writeUnlessRefused } from '../table/transactions.ts';
import { type Instant, SECONDS_PER_DAY, toInstant } from '../time.ts';
import { type CallOrigin, type CancelAnswer, OBSTACLES, type ProviderAnswer, TAKEN } from './providers.ts';

/** As `ProviderUsage`. */
const Usage = z.object({
  images: z.optional(z.number()),
  inputSeconds: z.optional(z.number()),
  outputSeconds: z.optional(z.number()),
});

/** An obstacle that only another release knows reads as absent: the call stays with its provider. */
const KnownObstacle = z.catch(z.optional(z.enum(OBSTACLES)), undefined);

/** The known outcomes of a call. */
const KnownOutcome = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('accepted'), taskId: z.string() }),
  z.object({
    kind: z.literal('done'),
    outputs: z.array(z.union([z.object({ url: z.string() }), z.object({ failure: StoredFailure })])),
    usage: z.optional(Usage),
    seed: z.optional(z.number()),
  }),
  z.object({
    kind: z.literal('failed'),
    failure: StoredFailure,
    taken: z.optional(z.catch(z.enum(TAKEN), 'unknown')),
    obstacle: KnownObstacle,
    blamesInput: z.catch(z.optional(z.boolean()), undefined),
    upstream: z.optional(z.object({ code: z.string(), message: z.optional(z.string()) })),
  }),
  z.object({
    kind: z.literal('busy'),
    reason: z.string(),
    obstacle: KnownObstacle,
    retryAfterSeconds: z.optional(z.number()),
  }),
  z.object({ kind: z.literal('lost'), failure: StoredFailure }),
]);
const Unreadable = z.object({ kind: z.literal('unreadable') });

/**
 * The outcome of a call. `accepted` is replaced by the task's own outcome. `unreadable` is an outcome in a form that only another
 * release knows: the stored outcome stays, the call is not repeated, and at the deadline counts as a failure of ours.
 */
const Outcome = z.catch(z.union([KnownOutcome, Unreadable]), { kind: 'unreadable' });
export type AttemptOutcome = z.infer<typeof Outcome>;

/** A route that was not chosen, and why, in words for an operator. */
const PassedOver = z.object({ route: z.string(), why: z.string() });
export type PassedOver = z.infer<typeof PassedOver>;

/**
 * A stored attempt of a creation call to a provider. The record is written before the call, so that an attempt without a known
 * outcome is on record. `call` is the call's index in the plan, `attempt` counts from
 * 0. The call went to `provider`, `upstreamModel` and `baseUrl`. The calling process keeps `aliveAt` current. `suspectedAt` is
 *    when a run found `aliveAt` outdated; a mark of the living process clears `suspectedAt`. Since `refusedAt` the provider has
 *    refused to report the state of the task. `cancellation` is the cancellation of the task after the request's end, with a
 *    `reason` if the cancellation failed. `assignment` is the number of the request's assignment at the call. `passedOver` are
 *    the routes that were not chosen, for a model with several routes.
 */
export const ProviderAttempt = z.object({
  requestId: z.string(),
  call: z.number(),
  attempt: z.number(),
  assignment: z.number(),
  provider: z.string(),
  upstreamModel: z.string(),
  baseUrl: z.string(),
  startedAt: z.string(),
  aliveAt: z.string(),
  suspectedAt: z.optional(z.string()),
  refusedAt: z.optional(z.string()),
  finishedAt: z.optional(z.string()),
  taskId: z.optional(z.string()),
  outcome: z.optional(Outcome),
  cancellation: z.optional(z.object({ at: z.string(), reason: z.optional(z.string()) })),
  passedOver: z.catch(z.optional(z.array(PassedOver)), undefined),
});
export type ProviderAttempt = z.infer<typeof ProviderAttempt>;

/** The origin of an attempt. Attempts outlive adapters, so this release may have no adapter for the provider. */
export const originOf = ({ provider, upstreamModel, baseUrl }: ProviderAttempt): CallOrigin => ({
  provider: provider as ProviderId,
  upstreamModel,
  baseUrl,
});

/**
 * Access pattern 44: a request's provider calls in plan order, each call's attempts in order. Strongly
 * consistent.
 */
export const listAttempts = async (requestId: string): Promise<ProviderAttempt[]> => {
  const items = await queryItems(partitionQuery(requestPartition(requestId), PROVIDER_ATTEMPT_PREFIX));
  return inPlanOrder(items.map((item) => ProviderAttempt.parse(item)));
};

/** Attempts in plan order, each call's in theirs: the keys order the first hundred of a call, and no more. */
const inPlanOrder = (attempts: readonly ProviderAttempt[]): ProviderAttempt[] =>
  attempts.toSorted((a, b) => a.call - b.call || a.attempt - b.attempt);

/** Whether the provider accepted a call as a task that is not known to have finished. */
export const isOpenTask = ({ outcome }: ProviderAttempt): boolean => outcome?.kind === 'accepted';

const updateOfAttempt = ({ requestId, call, attempt }: ProviderAttempt, parts: UpdateParts) =>
  updateOf(providerAttemptKey(requestId, call, attempt), parts);

/**
 * Access pattern 46: marks the process that makes the call as alive. Throws when the attempt does not exist.
 */
export const keepAttemptAlive = async (attempt: ProviderAttempt, now: Date): Promise<void> => {
  await writeItem(
    updateOfAttempt(attempt, {
      UpdateExpression: 'SET aliveAt = :now REMOVE suspectedAt',
      ConditionExpression: 'attribute_exists(PK)',
      ExpressionAttributeValues: { ':now': toInstant(now) },
    }),
  );
};

/**
 * Access pattern 46: records the suspicion that the calling process is dead, unless the attempt was marked alive since it was
 * read, or is suspected already.
 */
export const suspectAttempt = async (attempt: ProviderAttempt, now: Date): Promise<void> => {
  await writeUnlessRefused(
    updateOfAttempt(attempt, {
      UpdateExpression: 'SET suspectedAt = :now',
      ConditionExpression: 'aliveAt = :aliveAt AND attribute_not_exists(suspectedAt)',
      ExpressionAttributeValues: { ':now': toInstant(now), ':aliveAt': attempt.aliveAt },
    }),
  );
};

/**
 * Access pattern 48: sets `refusedAt`, from when the provider refuses to report the state of an open task, or
 * removes it once the provider reports again. Writes nothing if the task has finished or another run changed
 * it first. Returns the new attempt, or the given one if nothing was written.
 */
export const recordRefusal = async (
  attempt: ProviderAttempt,
  refusedAt: Instant | undefined,
): Promise<ProviderAttempt> => {
  const { refusedAt: before, ...rest } = attempt;
  const isUnchanged = before === undefined ? 'attribute_not_exists(refusedAt)' : 'refusedAt = :before';
  const isRecorded = await writeUnlessRefused(
    updateOfAttempt(attempt, {
      UpdateExpression: refusedAt === undefined ? 'REMOVE refusedAt' : 'SET refusedAt = :now',
      ConditionExpression: `outcome.kind = :accepted AND ${isUnchanged}`,
      ExpressionAttributeValues: {
        ':accepted': 'accepted',
        ...(refusedAt !== undefined && { ':now': refusedAt }),
        ...(before !== undefined && { ':before': before }),
      },
    }),
  );
  return isRecorded ? { ...rest, ...(refusedAt !== undefined && { refusedAt }) } : attempt;
};

/**
 * Access pattern 48: records what came of cancelling the task of an attempt, once. Does nothing when the attempt was
 * deleted with its request.
 */
export const recordCancellation = async (
  attempt: ProviderAttempt,
  answer: CancelAnswer,
  now: Date,
): Promise<void> => {
  const reason = answer.kind === 'not-cancelled' ? { reason: answer.reason } : {};
  await writeUnlessRefused(
    updateOfAttempt(attempt, {
      UpdateExpression: 'SET cancellation = :cancellation',
      ConditionExpression: 'attribute_exists(PK) AND attribute_not_exists(cancellation)',
      ExpressionAttributeValues: { ':cancellation': { at: toInstant(now), ...reason } },
    }),
  );
};

/**
 * Access pattern 47: records a call's outcome, unless it has a final one already: the first final outcome
 * stands. With `ifSuspected`, only while the attempt is suspected as it was when it was read. Returns the attempt
 * as stored, which may hold another run's outcome. When it was deleted with its request, writes nothing and returns it with the answer.
 */
export const recordOutcome = async (
  attempt: ProviderAttempt,
  { providerRequestId: _, ...answer }: Exclude<ProviderAnswer, { kind: 'waiting' | 'refused' }>,
  now: Date,
  { ifSuspected = false }: { ifSuspected?: boolean } = {},
): Promise<ProviderAttempt> => {
  const accepted = answer.kind === 'accepted';
  const { done, item } = await writeOnCondition(
    updateOfAttempt(attempt, {
      UpdateExpression: `SET outcome = :outcome, ${accepted ? 'taskId = :task' : 'finishedAt = :now'}`,
      ConditionExpression: `attribute_exists(PK) AND (attribute_not_exists(outcome) OR outcome.kind = :accepted)${
        ifSuspected ? ' AND suspectedAt = :suspectedAt' : ''
      }`,
      ExpressionAttributeValues: {
        ':outcome': answer,
        ':accepted': 'accepted',
        ...(accepted ? { ':task': answer.taskId } : { ':now': toInstant(now) }),
        ...(ifSuspected && { ':suspectedAt': attempt.suspectedAt }),
      },
      ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }),
  );
  if (done && !accepted)
    countMetric(METRIC.providerCall, { provider: attempt.provider, outcome: answer.kind });
  return ProviderAttempt.parse(item ?? { ...attempt, outcome: answer });
};

/**
 * Access pattern 44: a request, undefined when absent, and its provider calls in the order of `listAttempts`. Strongly
 * consistent; the request is read after the attempts.
 */
export const findRequestAndAttempts = async (
  requestId: string,
): Promise<{ request: StoredRequest | undefined; attempts: ProviderAttempt[] }> => {
  let request: StoredRequest | undefined;
  const attempts: ProviderAttempt[] = [];
  const query = rangeQuery(requestPartition(requestId), PROVIDER_ATTEMPT_PREFIX, REQUEST_SORT);
  for await (const item of queryAll(query)) {
    if (item.SK === REQUEST_SORT) request = toRequest(item);
    else attempts.push(ProviderAttempt.parse(item));
  }
  return { request, attempts: inPlanOrder(attempts) };
};

/**
 * Time for which operators can see the provider calls of a request. Longer than its record, which by default is kept for 23 h and
 * then 90 days.
 */
export const ATTEMPT_RETENTION_SECONDS = 100 * SECONDS_PER_DAY;
