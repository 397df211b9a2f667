import { waitAtGate } from '../admission/admission.ts';
import { findGate } from '../admission/route-gates.ts';
import { removeWaiter } from '../admission/waiters.ts';
import { type Clock, systemClock } from '../clock.ts';
import { type StateEntry, tokenOrderOf } from '../provider-calls/provider-waits.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { findRequest, lookAtQueued } from '../requests/requests.ts';
import { addSeconds, toInstant } from '../time.ts';
import { letIntoDispatch } from './task-tokens.ts';
import type { PlaceInQueue } from './workflow-rules.ts';

/** The reconciler looks at a request that long after its time in the queue is over. */
const LOOK_AFTER_SECONDS = 60;

/**
 * Begins an execution's wait for capacity at a gate, for at most `timeoutSeconds`. One that has ended, or whose gate is
 * not configured any more, is dispatched again at once, which decides.
 */
export const awaitCapacity = async (
  requestId: string,
  taskToken: string,
  entry: StateEntry,
  { gate: gateName, weight, starts, timeoutSeconds }: PlaceInQueue & { timeoutSeconds: number },
  clock: Clock = systemClock,
): Promise<void> => {
  const request = await findRequest(requestId);
  const gate = findGate(gateName);
  if (!request || isTerminal(request) || !gate) {
    // An earlier try may have died before the queue knew of it: the sweep would not find it.
    if (request) await removeWaiter(gateName, request);
    await letIntoDispatch(taskToken);
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
  };
  const lookAt = addSeconds(toInstant(clock.now()), timeoutSeconds + LOOK_AFTER_SECONDS);
  // Not before: the reconciler finds a request whose execution is lost while the queue does not know of it.
  await waitAtGate(gate, waiter, letIntoDispatch, clock, () => lookAtQueued(requestId, lookAt));
};
