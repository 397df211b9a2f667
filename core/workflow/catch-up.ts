import type { Clock } from '../clock.ts';
import { findProviderWait, type ProviderWait } from '../provider-calls/provider-waits.ts';
import type { ProviderRouteOf } from '../provider-calls/providers.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { queryTasks } from './query-tasks.ts';
import { keepExecutionWaiting, wakeExecution } from './task-tokens.ts';
import { hasOpenTask, type NextStep, stepWhenFinished } from './workflow-rules.ts';

/**
 * Queries the provider on behalf of a waiting execution: wakes it when every task has finished, else sends it
 * a heartbeat so that it does not query for now. `answered` is false when the provider did not answer.
 */
export const catchUp = async (
  request: StoredRequest,
  { taskToken }: ProviderWait,
  providerRouteOf: ProviderRouteOf,
  clock: Clock,
  timeoutMs: number,
): Promise<{ answered: boolean }> => {
  const { attempts, answered } = await queryTasks(request, providerRouteOf, clock, timeoutMs);
  if (attempts.length === 0 || attempts.some(({ outcome }) => outcome === undefined)) return { answered };
  if (!hasOpenTask(attempts)) await wakeWaiting(request.requestId, stepWhenFinished(attempts));
  else if (answered && taskToken !== undefined) await keepExecutionWaiting(taskToken);
  return { answered };
};

/**
 * Wakes the execution under its current token. The token is read after the outcomes were recorded, because
 * the execution may have begun to wait during the query and seen the tasks still open.
 */
const wakeWaiting = async (requestId: string, step: NextStep): Promise<void> => {
  const wait = await findProviderWait(requestId);
  if (wait?.taskToken !== undefined) await wakeExecution(wait.taskToken, step);
};
