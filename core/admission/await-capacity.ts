import { admitToDispatch } from '../executions/executions.ts';
import { startReconcilerIfDead } from '../executions/start-reconciler.ts';
import type { QueuePosition } from '../executions/step-rules.ts';
import { type StateEntry, tokenOrderOf } from '../provider-calls/provider-waits.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { checkQueuedAt, findRequest, recordGate } from '../requests/requests.ts';
import { addSeconds, type Clock, systemClock, toInstant } from '../time.ts';
import { waitAtGate } from './admission.ts';
import { findGate } from './gates.ts';
import { removeWaiter } from './waiters.ts';

/** How long after a request's time in the queue the reconciler checks it. */
const LOOK_AFTER_SECONDS = 60;

/**
 * Begins an execution's wait for capacity at a gate, for at most `timeoutSeconds`. The reconciler lets it in. A request that has ended,
 * or whose gate is not configured any more, is dispatched again at once, which decides.
 */
export const awaitCapacity = async (
  requestId: string,
  taskToken: string,
  entry: StateEntry,
  { gate, weight, starts, routes, timeoutSeconds }: QueuePosition & { timeoutSeconds: number },
  clock: Clock = systemClock,
): Promise<void> => {
  const request = await findRequest(requestId);
  if (!request || isTerminal(request) || !findGate(gate)) {
    // An earlier try may have died after it wrote the waiter.
    if (request) await removeWaiter(gate, request);
    await admitToDispatch(taskToken);
    return;
  }
  const { accountId, createdAt } = request;
  const waiter = {
    requestId,
    accountId,
    createdAt,
    taskToken,
    tokenOrder: tokenOrderOf(entry),
    weight,
    starts,
    ...(routes && { routes }),
  };
  await waitAtGate(gate, waiter, clock);
  // Not before: the reconciler finds a request whose execution is lost while the queue does not know of it.
  const checkAt = addSeconds(toInstant(clock.now()), timeoutSeconds + LOOK_AFTER_SECONDS);
  // Its record names the gate where it may get a permit: it gives that back when it goes elsewhere.
  if (!(await checkQueuedAt(requestId, checkAt, gate))) await recordGate(requestId, gate);
  await startReconcilerIfDead(clock);
};
