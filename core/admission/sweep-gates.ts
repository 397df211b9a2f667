import type { Clock } from '../clock.ts';
import { countMetric, logger, METRIC } from '../observability.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { leaveGate } from './admission.ts';
import { type GateState, holdersToCheck } from './gate-rules.ts';
import { listGates, readGate, renewLease, unmarkQueued } from './gates.ts';
import { dropWaiter, letIn, type Wake, wakeHolder } from './let-in.ts';
import { findGate } from './route-gates.ts';
import { findWaiter, listAllWaiters, removeWaiter, removeWaitingAccount } from './waiters.ts';

/**
 * Looks at every gate, until `keepGoing` returns false, for what a function left when it died:
 *
 * 1. A permit whose lease has run out: one of a request that has ended is given back, one of a request that was to be
 *    woken wakes it, any other is kept.
 * 2. Requests that wait although there is room are let in.
 * 3. At a gate that is not configured any more, all that wait are woken, to go where their route leads now.
 *
 * An error is logged and does not stop the rest.
 */
export const sweepGates = async (wake: Wake, keepGoing: () => boolean, clock: Clock): Promise<void> => {
  for (const name of await listGates()) {
    if (!keepGoing()) return;
    try {
      await sweepGate(name, wake, keepGoing, clock);
    } catch (error) {
      logger.error('a gate could not be swept', { gate: name, error: error as Error });
      countMetric(METRIC.reconcileFailed, {});
    }
  }
};

const sweepGate = async (name: string, wake: Wake, keepGoing: () => boolean, clock: Clock): Promise<void> => {
  const { state, accounts } = await readGate(name);
  for (const requestId of holdersToCheck(state, clock.now().getTime())) {
    if (!keepGoing()) return;
    await checkHolder(name, requestId, state, wake, clock);
  }
  if (state.queued === undefined) return;
  const gate = findGate(name);
  if (!gate) {
    await wakeAll(name, wake, keepGoing, clock);
    for (const account of accounts) await removeWaitingAccount(name, account);
    await unmarkQueued(name, state.queued);
    return;
  }
  while (keepGoing() && (await letIn(gate, { wake, clock })));
};

const checkHolder = async (
  gateName: string,
  requestId: string,
  { permits }: GateState,
  wake: Wake,
  clock: Clock,
): Promise<void> => {
  const permit = permits.get(requestId);
  if (!permit) return;
  const { accountId, takenMs } = permit;
  const request = await findRequest(requestId);
  if (!request || isTerminal(request)) {
    return leaveGate(gateName, { requestId, accountId }, wake, clock, takenMs);
  }
  const waiter = await findWaiter(gateName, request);
  if (waiter) await wakeHolder(gateName, waiter, { wake, clock });
  await renewLease(gateName, requestId, permit, clock.now());
};

const wakeAll = async (
  gateName: string,
  wake: Wake,
  keepGoing: () => boolean,
  clock: Clock,
): Promise<void> => {
  for (const waiter of await listAllWaiters(gateName)) {
    if (!keepGoing()) return;
    if (await wake(waiter.taskToken)) await removeWaiter(gateName, waiter);
    else await dropWaiter(gateName, waiter, clock.now());
  }
};
