import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { PlaceInQueue } from '../executions/step-rules.ts';
import { logger } from '../observability.ts';
import type { ModelRoute } from '../provider-calls/providers.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import type { Clock } from '../time.ts';
import { keepTrying } from '../transient-errors.ts';
import { type Gate, type GateState, isLimited, weightOf } from './gate-rules.ts';
import {
  gateOfRoute,
  gatesOfModel,
  givePermitBack,
  type HeldPermit,
  markQueued,
  postponeStarts,
  takePermit,
} from './gates.ts';
import { type GateWaiter, noteServed, putWaiter, removeWaiter, touchAccount } from './waiters.ts';

/** A request's permission to make calls of a limited route. */
export interface Pass extends HeldPermit {
  gate: Gate;
}

/** The outcome of asking for a pass: none is needed, or there is none now. */
export type Asked =
  | { kind: 'unlimited' }
  | { kind: 'pass'; pass: Pass }
  | { kind: 'full'; place: PlaceInQueue };

/** Asks for a pass for a request's calls of a route. Returns the existing one if the request has a pass. */
export const askForPass = async (
  { requestId, accountId }: StoredRequest,
  route: ModelRoute,
  calls: number,
  clock: Clock,
): Promise<Asked> => {
  const gate = gateOfRoute(route);
  if (calls === 0 || !isLimited(gate)) return { kind: 'unlimited' };
  const place = placeAt(route, calls);
  const held = await takePermit(gate, { requestId, accountId, ...place }, clock.now());
  return held ? { kind: 'pass', pass: { gate, ...held } } : { kind: 'full', place };
};

/** The place where a request waits for its calls of a route. */
export const placeAt = (route: ModelRoute, calls: number): PlaceInQueue => {
  const gate = gateOfRoute(route);
  return { gate: gate.name, weight: weightOf(calls, gate), starts: calls };
};

/** Waits for the start of a pass. A stored pass of a gate without a limit of running calls ends here. Rejects when it cannot. */
export const startWith = async (
  request: StoredRequest,
  { gate, permit, isNew }: Pass,
  clock: Clock,
): Promise<void> => {
  const waitMs = (permit.startMs ?? 0) - clock.now().getTime();
  if (waitMs > 0) await pause(waitMs);
  if (gate.permits === undefined && !isNew) await leaveGate(gate.name, request, clock, permit.takenMs);
};

/**
 * Begins a request's wait at a gate. The control loop lets it in when its turn comes. Does nothing when the request waits under a
 * newer token.
 */
export const waitAtGate = async (gateName: string, waiter: GateWaiter, clock: Clock): Promise<void> => {
  const now = clock.now();
  if (!(await putWaiter(gateName, waiter, now))) return;
  // In this order, so that a loop that finds no account, and then no new mark on the gate, has missed no
  // waiter.
  const stamp = randomUUID();
  await touchAccount(gateName, waiter.accountId, stamp, now);
  await markQueued(gateName, stamp);
};

/** The request whose permit is given back. */
type Holder = Pick<StoredRequest, 'requestId' | 'accountId'>;

/**
 * Gives a request's permit of a gate back, with `takenMs` only the permit taken then. Its account counts as
 * served now. Returns the gate afterwards; undefined when the request has no such permit. Repeating it is
 * harmless.
 */
export const leaveGate = async (
  gateName: string,
  { requestId, accountId }: Holder,
  clock: Clock,
  takenMs?: number,
): Promise<GateState | undefined> => {
  const state = await givePermitBack(gateName, requestId, takenMs);
  if (state?.queued !== undefined) await noteServed(gateName, accountId, clock.now());
  return state;
};

/** Gives a pass back, after which the route pauses for `pauseSeconds` if the provider was too busy. Never rejects. */
export const giveBack = (
  request: StoredRequest,
  { gate, permit }: Pass,
  clock: Clock,
  pauseSeconds = 0,
): Promise<void> =>
  quietly(request, clock, async () => {
    if (pauseSeconds > 0) await postponeStarts(gate.name, clock.now().getTime() + pauseSeconds * 1000);
    if (gate.permits !== undefined) await leaveGate(gate.name, request, clock, permit.takenMs);
  });

/**
 * Gives back the permit that a request has where it was or waited, according to its record. One of the gate `except`, where it goes next, is
 * kept. Repeating it is harmless. Never rejects.
 */
export const giveOwnPermitBack = (request: StoredRequest, clock: Clock, except?: string): Promise<void> =>
  quietly(request, clock, async () => {
    const { gate } = request;
    if (gate !== undefined && gate !== except) await leaveGate(gate, request, clock);
  });

/** Takes a request that makes no more calls out of the queues of its model's routes. Repeating it is harmless. */
export const leaveQueue = async (request: StoredRequest): Promise<void> => {
  for (const { name } of gatesOfModel(request.model)) await removeWaiter(name, request);
};

/**
 * Takes a request that has ended out of its routes: out of the queues, then out of the gates of its model and the gate in its record.
 * Repeating it is harmless. Never rejects.
 */
export const leaveRoute = (request: StoredRequest, clock: Clock): Promise<void> =>
  quietly(request, clock, async () => {
    await leaveQueue(request);
    const gates = gatesOfModel(request.model).map(({ name }) => name);
    for (const name of new Set([...gates, request.gate])) {
      if (name !== undefined) await leaveGate(name, request, clock);
    }
  });

/** How long transient errors are retried for. */
const GIVE_BACK_MS = 5_000;

/** An error must not cost a request its result: the control loop takes the permit back. */
const quietly = async (
  { requestId }: StoredRequest,
  clock: Clock,
  act: () => Promise<void>,
): Promise<void> => {
  const endMs = clock.now().getTime() + GIVE_BACK_MS;
  try {
    await keepTrying(act, () => clock.now().getTime() < endMs);
  } catch (error) {
    logger.error('a permit could not be given back', { requestId, error: error as Error });
  }
};
