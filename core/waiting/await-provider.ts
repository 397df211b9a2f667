import { wakeExecution } from '../executions/executions.ts';
import { startReconcilerIfDead } from '../executions/start-reconciler.ts';
import { stepWhenEnded, stepWhenFinished } from '../executions/step-rules.ts';
import { hasOpenTask, latestAttempts } from '../provider-calls/attempt-rules.ts';
import { findRequestAndAttempts } from '../provider-calls/provider-attempts.ts';
import { type BegunWait, keepTaskToken } from '../provider-calls/provider-waits.ts';
import type { ProviderRouteOf } from '../provider-calls/providers.ts';
import { isDueSoon, isTerminal } from '../requests/request-rules.ts';
import { type Clock, systemClock } from '../time.ts';
import { catchUp } from './catch-up.ts';

/** The time limit of the query that an early callback causes. */
const QUERY_TIMEOUT_MS = 15_000;

/**
 * Begins an execution's wait: keeps its task token, then checks whether the provider has already finished or
 * called back. An event before the token is found here; a later one finds the token. A request that is due within a minute
 * starts the reconciler, if it does not run.
 */
export const awaitProvider = async (
  { requestId, taskToken, ...entry }: BegunWait,
  providerRouteOf: ProviderRouteOf,
  clock: Clock = systemClock,
): Promise<void> => {
  const wait = await keepTaskToken(requestId, taskToken, entry, clock.now());
  const { request, attempts: all } = await findRequestAndAttempts(requestId);
  if (!request || isTerminal(request)) {
    await wakeExecution(taskToken, stepWhenEnded(request));
    return;
  }
  const attempts = latestAttempts(all);
  if (!hasOpenTask(attempts)) {
    await wakeExecution(taskToken, stepWhenFinished(attempts));
    return;
  }
  const { calledBackAt, queriedAt } = wait;
  const hasPendingCallback =
    calledBackAt !== undefined && (queriedAt === undefined || queriedAt < calledBackAt);
  if (hasPendingCallback) await catchUp(request, providerRouteOf, clock, QUERY_TIMEOUT_MS);
  // A request that is due later is found by the next scheduled run.
  if (isDueSoon(request, clock.now())) await startReconcilerIfDead(clock);
};
