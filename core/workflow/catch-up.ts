import type { Clock } from '../clock.ts';
import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { findProviderWait, type ProviderWait } from '../provider-calls/provider-waits.ts';
import type { ProviderRouteOf } from '../provider-calls/providers.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { queryTasks } from './query-tasks.ts';
import { keepExecutionWaiting, wakeExecution } from './task-tokens.ts';
import { hasOpenTask, stepWhenFinished } from './workflow-rules.ts';

/** What came of a query on behalf of a waiting execution. */
export interface CatchUpResult {
  /** Whether the provider answered for every open task. */
  answered: boolean;
  /** Whether an execution waits: it was woken, or took a heartbeat. False when it is not known. */
  attended: boolean;
}

/**
 * Queries the provider on behalf of a waiting execution: wakes it when every task has finished, else sends it
 * a heartbeat so that it does not query for now.
 */
export const catchUp = async (
  request: StoredRequest,
  { taskToken }: ProviderWait,
  providerRouteOf: ProviderRouteOf,
  clock: Clock,
  timeoutMs: number,
): Promise<CatchUpResult> => {
  const { attempts, answered } = await queryTasks(request, providerRouteOf, clock, timeoutMs);
  if (!hasOutcomes(attempts)) return { answered, attended: false };
  if (!hasOpenTask(attempts)) {
    return { answered, attended: await wakeWhenFinished(request.requestId, attempts) };
  }
  return {
    answered,
    attended: answered && taskToken !== undefined && (await keepExecutionWaiting(taskToken)),
  };
};

/** Whether every call was made and its outcome is known. */
const hasOutcomes = (attempts: readonly ProviderAttempt[]): boolean =>
  attempts.length > 0 && attempts.every(({ outcome }) => outcome !== undefined);

/**
 * Wakes the execution under its current token if every task has finished. False when one has not, or no
 * execution waits. The token is read after the outcomes were recorded, because the execution may have begun
 * to wait during the query and seen the tasks still open.
 */
export const wakeWhenFinished = async (
  requestId: string,
  attempts: readonly ProviderAttempt[],
): Promise<boolean> => {
  if (!hasOutcomes(attempts) || hasOpenTask(attempts)) return false;
  const wait = await findProviderWait(requestId);
  return wait?.taskToken !== undefined && (await wakeExecution(wait.taskToken, stepWhenFinished(attempts)));
};
