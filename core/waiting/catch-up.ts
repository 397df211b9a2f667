import { wakeExecution } from '../executions/executions.ts';
import { isReconcilerAlive } from '../executions/reconciler-run.ts';
import { stepWhenFinished } from '../executions/step-rules.ts';
import { runOrLog } from '../observability.ts';
import { hasOpenTask, latestAttempts } from '../provider-calls/attempt-rules.ts';
import { listAttempts, type ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import {
  claimQuery,
  findProviderWait,
  type ProviderWait,
  queriedWithin,
} from '../provider-calls/provider-waits.ts';
import type { ProviderRouteOf } from '../provider-calls/providers.ts';
import { isDueSoon, type StoredRequest } from '../requests/request-rules.ts';
import { type Clock, systemClock } from '../time.ts';
import { queryTasks } from './query-tasks.ts';

/**
 * Queries the provider on behalf of a waiting execution, and wakes it when every task has finished. Returns whether the provider answered
 * for every open task.
 */
export const catchUp = async (
  request: StoredRequest,
  providerRouteOf: ProviderRouteOf,
  clock: Clock,
  timeoutMs: number,
): Promise<boolean> => {
  const { requestId } = request;
  const latest = latestAttempts(await listAttempts(requestId));
  const { attempts, answered } = await queryTasks(latest, { request, providerRouteOf, clock, timeoutMs });
  await wakeWhenFinished(requestId, attempts);
  return answered;
};

/**
 * Wakes the execution under its current token if every task has finished. False when one has not, or no
 * execution waits. The token is read after the outcomes were recorded, because the execution may have begun
 * to wait during the query and seen the tasks still open.
 */
export const wakeWhenFinished = async (
  requestId: string,
  attempts: readonly ProviderAttempt[],
): Promise<boolean> => {
  if (attempts.length === 0 || hasOpenTask(attempts)) return false;
  const wait = await findProviderWait(requestId);
  return wait?.taskToken !== undefined && (await wakeExecution(wait.taskToken, stepWhenFinished(attempts)));
};

/** Reads query the provider at most once per this interval. */
const QUERY_INTERVAL_SECONDS = 10;
/** The most a query may add to a read. */
const QUERY_TIMEOUT_MS = 4_000;

/**
 * Queries the provider when a caller reads a processing request, unless it was queried within the last 10 s, or the request is due soon
 * and the reconciler is alive to query it.
 * An error is logged and does not fail the read: the control loop queries too.
 */
export const catchUpOnRead = async (
  request: StoredRequest,
  wait: ProviderWait | undefined,
  providerRouteOf: ProviderRouteOf,
  clock: Clock = systemClock,
): Promise<void> => {
  const now = clock.now();
  if (request.status !== 'processing' || queriedWithin(wait, QUERY_INTERVAL_SECONDS, now)) return;
  await runOrLog({ message: 'a read could not catch up with the provider' }, async () => {
    if (isDueSoon(request, now) && (await isReconcilerAlive(now))) return;
    if (await claimQuery(request.requestId, QUERY_INTERVAL_SECONDS, now)) {
      await catchUp(request, providerRouteOf, clock, QUERY_TIMEOUT_MS);
    }
  });
};
