import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { logger } from '../observability.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import type { Gate } from './gate-rules.ts';
import { givePermitBack, markQueued } from './gates.ts';
import { type LettingIn, letIn, type Wake, wakeHolder } from './let-in.ts';
import { findGate, gatesOfModel } from './route-gates.ts';
import { type GateWaiter, putWaiter, removeWaiter, touchAccount } from './waiters.ts';

/**
 * Begins a request's wait at a gate, then lets in whoever's turn it is, which may be this one. A permit that was freed
 * before the gate was marked is found here; a later one lets the next request in when it is freed. `onQueued` runs once
 * the gate is marked: from then on the request is let in when its turn comes. A request that has a permit already is
 * woken at once. Does nothing when it waits under a newer token.
 */
export const waitAtGate = async (
  gate: Gate,
  waiter: GateWaiter,
  wake: Wake,
  clock: Clock,
  onQueued: () => Promise<unknown> = async () => {},
): Promise<void> => {
  const now = clock.now();
  if (!(await putWaiter(gate.name, waiter, now))) return;
  const stamp = randomUUID();
  await touchAccount(gate.name, waiter, stamp, now);
  const { permits } = await markQueued(gate.name, stamp);
  await onQueued();
  if (permits.has(waiter.requestId)) await wakeHolder(gate.name, waiter, { wake, clock });
  await letIn(gate, { wake, clock });
};

/** The request whose permit is given back. */
type Holder = Pick<StoredRequest, 'requestId' | 'accountId'>;

/**
 * Gives a request's permit of a gate back, with `takenMs` only the one that was taken then, and lets in whoever's turn it
 * is. Repeating it is harmless.
 */
export const leaveGate = async (
  gateName: string,
  { requestId, accountId }: Holder,
  wake: Wake,
  clock: Clock,
  takenMs?: number,
): Promise<void> => {
  const state = await givePermitBack(gateName, requestId, takenMs);
  if (state?.queued !== undefined) await letInNext(gateName, { wake, clock, servedNow: accountId });
};

/**
 * As `letIn`, for whoever has work of its own: an error is logged, and the sweep lets them in within a minute. Does
 * nothing when the gate is not configured any more.
 */
export const letInNext = async (gateName: string, letting: LettingIn): Promise<void> => {
  const gate = findGate(gateName);
  if (!gate) return;
  try {
    await letIn(gate, letting);
  } catch (error) {
    logger.warn('the next request could not be let in', { gate: gateName, error: error as Error });
  }
};

/** As `leaveGate`, for the gate of which the request has a permit by its record; nothing when it has none. */
export const leaveOwnGate = async (request: StoredRequest, wake: Wake, clock: Clock): Promise<void> => {
  if (request.gate !== undefined) await leaveGate(request.gate, request, wake, clock);
};

/**
 * As `leaveGate`, for a request that has ended without delivering: also from the gates where it may have a permit that
 * its record does not tell, and from the queue.
 */
export const leaveAllGates = async (request: StoredRequest, wake: Wake, clock: Clock): Promise<void> => {
  const tried = gatesOfModel(request.requestId, request.model).map(({ name }) => name);
  const last = tried.at(-1);
  if (last !== undefined) await removeWaiter(last, request);
  for (const gate of new Set([...tried, ...(request.gate === undefined ? [] : [request.gate])])) {
    await leaveGate(gate, request, wake, clock);
  }
};
