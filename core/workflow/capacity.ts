import { setTimeout as pause } from 'node:timers/promises';
import { leaveAllGates, leaveGate, leaveOwnGate, letInNext } from '../admission/admission.ts';
import { type Gate, weightOf } from '../admission/gate-rules.ts';
import { postponeStarts, readGate, takePermit } from '../admission/gates.ts';
import { gatesToTry } from '../admission/route-gates.ts';
import { sweepGates } from '../admission/sweep-gates.ts';
import type { Clock } from '../clock.ts';
import { logger } from '../observability.ts';
import type { ModelRoute } from '../provider-calls/providers.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { keepTrying } from './keep-trying.ts';
import { letIntoDispatch } from './task-tokens.ts';
import type { PlaceInQueue } from './workflow-rules.ts';

/** A request's permission to make calls: so many at once, from `startMs` on. */
export interface Pass {
  gate: Gate;
  weight: number;
  startMs: number;
  takenMs: number;
  /** Whether the request had it already, from an earlier run or because its turn came. */
  isHeld: boolean;
}

/** The outcome of asking for a pass: none is needed, or there is none now. */
export type Asked =
  | { kind: 'unlimited' }
  | { kind: 'pass'; pass: Pass }
  | { kind: 'full'; place: PlaceInQueue };

/** Asks for a pass for a request's calls of a route. It finds the one that the request has. */
export const askForPass = async (
  { requestId, accountId }: StoredRequest,
  route: ModelRoute,
  calls: number,
  clock: Clock,
): Promise<Asked> => {
  const gates = calls === 0 ? [] : gatesToTry(requestId, route);
  const last = gates.at(-1);
  if (!last) return { kind: 'unlimited' };
  for (const gate of await inOrderOfRoom(requestId, gates)) {
    const entrant = { requestId, accountId, weight: weightOf(calls, gate), starts: calls };
    const taken = await takePermit(gate, entrant, clock.now());
    if (taken.kind === 'refused') continue;
    const { kind, startMs, weight, takenMs } = taken;
    return { kind: 'pass', pass: { gate, weight, startMs, takenMs, isHeld: kind === 'held' } };
  }
  return { kind: 'full', place: { gate: last.name, weight: weightOf(calls, last), starts: calls } };
};

/** A gate of which the request has a permit first, then the emptier one. */
const inOrderOfRoom = async (requestId: string, gates: readonly Gate[]): Promise<readonly Gate[]> => {
  if (gates.length === 1) return gates;
  const found = await Promise.all(
    gates.map(async (gate) => {
      const { state } = await readGate(gate.name);
      return { gate, rank: state.permits.has(requestId) ? -1 : state.used };
    }),
  );
  return found.toSorted((one, other) => one.rank - other.rank).map(({ gate }) => gate);
};

/**
 * Waits for the start of a pass. Where starts are limited, those who wait for the rate may then follow. A pass of a gate
 * without a limit of running calls ends here.
 */
export const startWith = async (request: StoredRequest, pass: Pass, clock: Clock): Promise<void> => {
  const waitMs = pass.startMs - clock.now().getTime();
  if (waitMs > 0) await pause(waitMs);
  const { gate, isHeld, takenMs } = pass;
  if (gate.intervalMs === undefined) return;
  if (gate.permits === undefined && isHeld) {
    await leaveGate(gate.name, request, letIntoDispatch, clock, takenMs);
  } else if (isHeld || waitMs > 0) await letInNext(gate.name, { wake: letIntoDispatch, clock });
};

/** Gives a pass back, and lets the next request in, after `pauseSeconds` if the provider was too busy. Never rejects. */
export const giveBack = (
  request: StoredRequest,
  { gate, takenMs }: Pass,
  clock: Clock,
  pauseSeconds = 0,
): Promise<void> =>
  quietly(request, clock, async () => {
    if (pauseSeconds > 0) await postponeStarts(gate.name, clock.now().getTime() + pauseSeconds * 1000);
    if (gate.permits !== undefined) await leaveGate(gate.name, request, letIntoDispatch, clock, takenMs);
  });

/**
 * Gives back the permit that a request has by its record, and lets the next one in. Repeating it is harmless. Never
 * rejects.
 */
export const giveOwnPermitBack = (request: StoredRequest, clock: Clock): Promise<void> =>
  quietly(request, clock, () => leaveOwnGate(request, letIntoDispatch, clock));

/** Takes a request that ended without delivering out of every gate and queue. Repeating it is harmless. Never rejects. */
export const leaveRoute = (request: StoredRequest, clock: Clock): Promise<void> =>
  quietly(request, clock, () => leaveAllGates(request, letIntoDispatch, clock));

/** How long transient errors are retried for. */
const GIVE_BACK_MS = 5_000;

/** An error must not cost a request what was made for it: the sweep gives its permit back once it has ended. */
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

/** Looks at every gate for what a function left when it died. */
export const sweepRoutes = (keepGoing: () => boolean, clock: Clock): Promise<void> =>
  sweepGates(letIntoDispatch, keepGoing, clock);
