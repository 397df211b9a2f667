import { stepWhenFinished } from '../executions/step-rules.ts';
import { wakeExecution } from '../executions/task-tokens.ts';
import { hasOpenTask, latestAttempts } from '../provider-calls/attempt-rules.ts';
import { listAttempts, type ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { findProviderWait } from '../provider-calls/provider-waits.ts';
import type { ProviderRouteOf } from '../provider-calls/providers.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import type { Clock } from '../time.ts';
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

/** Whether every call was made and every task has finished. */
export const areFinished = (attempts: readonly ProviderAttempt[]): boolean =>
  attempts.length > 0 && !hasOpenTask(attempts);

/**
 * Wakes the execution under its current token if every task has finished. False when one has not, or no
 * execution waits. The token is read after the outcomes were recorded, because the execution may have begun
 * to wait during the query and seen the tasks still open.
 */
export const wakeWhenFinished = async (
  requestId: string,
  attempts: readonly ProviderAttempt[],
): Promise<boolean> => {
  if (!areFinished(attempts)) return false;
  const wait = await findProviderWait(requestId);
  return wait?.taskToken !== undefined && (await wakeExecution(wait.taskToken, stepWhenFinished(attempts)));
};
