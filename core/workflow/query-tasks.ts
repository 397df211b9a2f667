import type { Clock } from '../clock.ts';
import { countMetric, logger, METRIC } from '../observability.ts';
import {
  listAttempts,
  originOf,
  type ProviderAttempt,
  recordOutcome,
} from '../provider-calls/provider-attempts.ts';
import { noteQuery } from '../provider-calls/provider-waits.ts';
import type { ProviderRouteOf } from '../provider-calls/providers.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import type { Instant } from '../time.ts';
import { firstCallAt, latestAttempts } from './workflow-rules.ts';

/** A task is new for so long, and a provider may not know it everywhere yet. */
const UNKNOWN_TASK_MS = 30_000;

/** The state of a request's tasks after a query. */
export interface TaskQueryResult {
  /** The latest attempt of every call, with its current outcome. */
  attempts: ProviderAttempt[];
  /** When the first call of the request began; undefined when there was none. */
  firstCallAt: Instant | undefined;
  /** Whether the provider answered for every open task. */
  answered: boolean;
  /** Whether the provider calls back when an open task changes. */
  callsBack: boolean;
}

/**
 * Queries every open task of a request, each where it was created, and records the outcomes. A query that fails
 * changes nothing. That a provider does not know a task counts as a failed query for 30 s after the call began.
 * Concurrent queries are safe: the first final outcome stands.
 */
export const queryTasks = async (
  request: StoredRequest,
  providerRouteOf: ProviderRouteOf,
  clock: Clock,
  timeoutMs: number,
): Promise<TaskQueryResult> => {
  const all = await listAttempts(request.requestId);
  const latest = [...latestAttempts(all).values()];
  if (latest.some(({ outcome }) => outcome?.kind === 'accepted'))
    await noteQuery(request.requestId, clock.now());
  const query = { request, providerRouteOf, clock, timeoutMs };
  const results = await Promise.all(latest.map((attempt) => queryTask(attempt, query)));
  return {
    attempts: results.map(({ attempt }) => attempt),
    firstCallAt: firstCallAt(all),
    answered: results.every(({ answered }) => answered),
    callsBack: results.every(({ callsBack }) => callsBack),
  };
};

interface TaskQuery {
  request: StoredRequest;
  providerRouteOf: ProviderRouteOf;
  clock: Clock;
  timeoutMs: number;
}

const queryTask = async (
  attempt: ProviderAttempt,
  { request, providerRouteOf, clock, timeoutMs }: TaskQuery,
): Promise<{ attempt: ProviderAttempt; answered: boolean; callsBack: boolean }> => {
  if (attempt.outcome?.kind !== 'accepted') return { attempt, answered: true, callsBack: true };
  const { provider } = await providerRouteOf(request.model, originOf(attempt));
  const callsBack = provider.callsBack(request.kind);
  const answer = await provider.query(attempt.outcome.taskId, AbortSignal.timeout(timeoutMs));
  switch (answer.kind) {
    case 'waiting':
    case 'accepted':
      return { attempt, answered: true, callsBack };
    case 'busy':
      return { attempt, answered: false, callsBack };
    case 'lost': {
      if (clock.now().getTime() - Date.parse(attempt.startedAt) < UNKNOWN_TASK_MS) {
        return { attempt, answered: false, callsBack };
      }
      const recorded = await recordOutcome(attempt, answer, clock.now());
      if (recorded.outcome?.kind === 'lost') {
        logger.error('provider call lost', { provider: provider.id, reason: 'the task is not known' });
        countMetric(METRIC.providerCallLost, { provider: provider.id });
      }
      return { attempt: recorded, answered: true, callsBack };
    }
    default:
      return { attempt: await recordOutcome(attempt, answer, clock.now()), answered: true, callsBack };
  }
};
