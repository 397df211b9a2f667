import { allEnded } from '../concurrency/in-parallel.ts';
import { TASK_REFUSED } from '../executions/step-rules.ts';
import { countMetric, logger, METRIC } from '../observability.ts';
import { MOST_RETRY_AFTER_SECONDS } from '../provider-calls/attempt-rules.ts';
import {
  isOpenTask,
  originOf,
  type ProviderAttempt,
  recordOutcome,
  recordRefusal,
} from '../provider-calls/provider-attempts.ts';
import { UnknownAddressError } from '../provider-calls/provider-urls.ts';
import { holdOffQueries, recordQuery } from '../provider-calls/provider-waits.ts';
import {
  type Provider,
  type ProviderAnswer,
  type ProviderRouteOf,
  queryFor,
} from '../provider-calls/providers.ts';
import type { ProviderId } from '../provider-names.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { SECRET_MAX_AGE_SECONDS } from '../secrets.ts';
import { addSeconds, type Clock, type Instant, toInstant } from '../time.ts';

/** Time after the last mark of a call in which its task is new: parts of the provider may not know the task yet. */
const UNKNOWN_TASK_MS = 30_000;
/** Time after which a refusal is final: every function has read a rotated key by then, so the refusal is not caused by a rotation. */
const REFUSED_TASK_MS = SECRET_MAX_AGE_SECONDS * 1000;

/** The state of a request's tasks after a query. */
export interface TaskQueryResult {
  /** The latest attempt of every call, with its current outcome. */
  attempts: ProviderAttempt[];
  /** Whether the provider answered for every open task. */
  answered: boolean;
  /** The end of the time without queries that the provider asked for in this answer. */
  notBefore?: Instant | undefined;
}

/** Makes a query when its turn comes. */
export type During = <T>(query: () => Promise<T>) => Promise<T>;

/** Options of querying the tasks of a request. */
export interface TaskQuery {
  request: Pick<StoredRequest, 'requestId' | 'model'>;
  providerRouteOf: ProviderRouteOf;
  clock: Clock;
  timeoutMs: number;
  /** At once by default. */
  during?: During;
}

/**
 * Queries the open tasks among the latest attempts of a request, and records that it does. While the provider's `Retry-After` has not passed,
 * nothing is queried, unless the query `isLast`.
 */
export const queryTasks = async (
  latest: readonly ProviderAttempt[],
  query: TaskQuery,
  { isLast = false } = {},
): Promise<TaskQueryResult> => {
  const mayQuery =
    !latest.some(isOpenTask) || (await recordQuery(query.request.requestId, query.clock.now(), isLast));
  return mayQuery ? queryAttempts(latest, query) : { attempts: [...latest], answered: false };
};

/**
 * As `queryTasks`, whatever `Retry-After` the provider sent. Queries each task at the provider account that created the task, and
 * records final outcomes. A failed query changes nothing. An unknown task counts as a failed query for 30 s after its call ended,
 * or up to 5 s less; a refusal or an answer that cannot be understood, for 5 min after the first. Concurrent queries are safe:
 * the first final outcome stands. Rejects once every query has ended and its outcome is recorded.
 */
export const queryAttempts = async (
  latest: readonly ProviderAttempt[],
  query: TaskQuery,
): Promise<TaskQueryResult> => {
  const results = await allEnded(latest.map((attempt) => queryTask(attempt, query)));
  const wanted = Math.max(0, ...results.map((result) => result.retryAfterSeconds ?? 0));
  const retryAfterSeconds = Math.min(wanted, MOST_RETRY_AFTER_SECONDS);
  const now = query.clock.now();
  const notBefore = retryAfterSeconds > 0 ? addSeconds(toInstant(now), retryAfterSeconds) : undefined;
  if (notBefore !== undefined) await holdOffQueries(query.request.requestId, notBefore, now);
  return {
    attempts: results.map(({ attempt }) => attempt),
    answered: results.every(({ answered }) => answered),
    notBefore,
  };
};

/** The provider of a task; undefined, which is logged, when the address of its call is not configured. */
const findProvider = async (
  attempt: ProviderAttempt,
  model: string,
  providerRouteOf: ProviderRouteOf,
): Promise<Provider | undefined> => {
  try {
    return (await providerRouteOf(model, originOf(attempt))).provider;
  } catch (error) {
    if (!(error instanceof UnknownAddressError)) throw error;
    const { requestId, provider } = attempt;
    logger.error('a task cannot be queried', { requestId, provider, error });
    return undefined;
  }
};

/** A task after its query. */
interface QueriedTask {
  attempt: ProviderAttempt;
  answered: boolean;
  retryAfterSeconds?: number | undefined;
}

const queryTask = async (
  attempt: ProviderAttempt,
  { request, providerRouteOf, clock, timeoutMs, during = (make) => make() }: TaskQuery,
): Promise<QueriedTask> => {
  const { outcome, refusedAt } = attempt;
  if (outcome?.kind !== 'accepted') return { attempt, answered: true };
  const provider = await findProvider(attempt, request.model, providerRouteOf);
  if (!provider) return { attempt, answered: false };
  const query = () => provider.query(outcome.taskId, AbortSignal.timeout(timeoutMs));
  const answer = await during(() => queryFor(request.requestId, query));
  const now = clock.now();
  switch (answer.kind) {
    case 'waiting':
    case 'accepted':
      return {
        attempt: refusedAt === undefined ? attempt : await recordRefusal(attempt, undefined),
        answered: true,
      };
    case 'busy':
      return { attempt, answered: false, retryAfterSeconds: answer.retryAfterSeconds };
    case 'refused':
      return endRefused(attempt, answer, provider.id, now);
    case 'lost':
      return endUnknown(attempt, answer, provider.id, now);
    default:
      return { attempt: await endTask(attempt, answer, now), answered: true };
  }
};

const isSince = (since: Instant, milliseconds: number, now: Date): boolean =>
  now.getTime() - Date.parse(since) >= milliseconds;

/** Ends a task whose provider has refused its queries for long enough; before, records the first refusal. */
const endRefused = async (
  attempt: ProviderAttempt,
  { failure = TASK_REFUSED, providerRequestId }: Extract<ProviderAnswer, { kind: 'refused' }>,
  provider: ProviderId,
  now: Date,
): Promise<QueriedTask> => {
  const { requestId, refusedAt } = attempt;
  if (refusedAt === undefined)
    return { attempt: await recordRefusal(attempt, toInstant(now)), answered: false };
  if (!isSince(refusedAt, REFUSED_TASK_MS, now)) return { attempt, answered: false };
  logger.error('provider refuses to report the state of a task', { requestId, provider });
  const refused = { kind: 'failed', failure, providerRequestId } as const;
  return { attempt: await endTask(attempt, refused, now), answered: true };
};

/** Ends a task that its provider does not know, unless the task is new. */
const endUnknown = async (
  attempt: ProviderAttempt,
  answer: Extract<ProviderAnswer, { kind: 'lost' }>,
  provider: ProviderId,
  now: Date,
): Promise<QueriedTask> => {
  const { requestId, aliveAt } = attempt;
  if (!isSince(aliveAt, UNKNOWN_TASK_MS, now)) return { attempt, answered: false };
  const recorded = await endTask(attempt, answer, now);
  if (recorded.outcome?.kind === 'lost') {
    logger.error('provider call lost', { requestId, provider, reason: 'the task is not known' });
    countMetric(METRIC.providerCallLost, { provider });
  }
  return { attempt: recorded, answered: true };
};

/** Records the outcome of a task, and logs it once: with its seconds from the creation call, and the provider's own id of this query. */
const endTask = async (
  attempt: ProviderAttempt,
  answer: Parameters<typeof recordOutcome>[1],
  now: Date,
): Promise<ProviderAttempt> => {
  const recorded = await recordOutcome(attempt, answer, now);
  // If another run recorded the outcome first, that run has logged it.
  if (recorded.finishedAt === toInstant(now)) {
    const { requestId, provider, upstreamModel, call, taskId, startedAt } = attempt;
    const seconds = (now.getTime() - Date.parse(startedAt)) / 1000;
    const { kind: outcome, providerRequestId } = answer;
    const task = { requestId, provider, upstreamModel, call, taskId };
    logger.info('provider task ended', { ...task, outcome, seconds, providerRequestId });
  }
  return recorded;
};
