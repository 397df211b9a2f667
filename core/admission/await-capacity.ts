import { admitToDispatch } from '../executions/executions.ts';
import { startReconcilerIfDead } from '../executions/start-reconciler.ts';
import type { QueuePosition } from '../executions/step-rules.ts';
import { type BegunWait, tokenOrderOf } from '../provider-calls/provider-waits.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { checkQueuedAt, findRequest } from '../requests/requests.ts';
import { addSeconds, type Clock, systemClock, toInstant } from '../time.ts';
import { enterQueue } from './admission.ts';
import { removeQueueEntry } from './queue-entries.ts';
import { findRouteLimit } from './route-limits.ts';

/** Delay after a request's queue deadline until the control loop ends the request. */
const CHECK_AFTER_SECONDS = 30;

/**
 * Begins an execution's wait for capacity at a route, for at most `timeoutSeconds`. The control loop admits the request. A
 * request that has ended or changed route is dispatched again at once, and so is a request whose route is not configured any
 * more.
 */
export const awaitCapacity = async (
  { requestId, taskToken, ...entry }: BegunWait,
  { route, weight, starts, routes, timeoutSeconds }: QueuePosition & { timeoutSeconds: number },
  clock: Clock = systemClock,
): Promise<void> => {
  const request = await findRequest(requestId);
  if (!request || isTerminal(request) || request.assignment?.route !== route || !findRouteLimit(route)) {
    // An earlier try may have died after it wrote the queue entry.
    if (request) await removeQueueEntry(route, { ...request, tokenOrder: tokenOrderOf(entry) });
    await admitToDispatch(taskToken);
    return;
  }
  const { accountId, createdAt } = request;
  const queueEntry = {
    requestId,
    accountId,
    createdAt,
    taskToken,
    tokenOrder: tokenOrderOf(entry),
    weight,
    starts,
    ...(routes && { routes }),
  };
  await enterQueue(route, queueEntry, clock);
  // Keep this after `enterQueue`. Until the request is queued, the control loop treats it as a lost execution and restarts it.
  await checkQueuedAt(requestId, addSeconds(toInstant(clock.now()), timeoutSeconds + CHECK_AFTER_SECONDS));
  await startReconcilerIfDead(clock);
};
