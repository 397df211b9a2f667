import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { logger } from '../observability.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import type { Clock } from '../time.ts';
import { keepTrying } from '../transient-errors.ts';
import type { GateState } from './gate-rules.ts';
import { givePermitBack, listQueues, markQueued, type Pass, postponeStarts } from './gates.ts';
import { type GateWaiter, putWaiter, recordServed, removeWaiter, touchAccount } from './waiters.ts';

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

/**
 * Gives a request's permit of a gate back, with `takenMs` only the permit taken then. Its account counts as
 * served now. Returns the gate afterwards; undefined when the request has no such permit. Repeating it is
 * harmless.
 */
export const leaveGate = async (
  gateName: string,
  { requestId, accountId }: Pick<StoredRequest, 'requestId' | 'accountId'>,
  clock: Clock,
  takenMs?: number,
): Promise<GateState | undefined> => {
  const state = await givePermitBack(gateName, requestId, takenMs);
  if (state?.queued !== undefined) await recordServed(gateName, accountId, clock.now());
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

/** The names of the gates of a model's routes at which requests may wait. */
const gatesOf = (model: string): string[] =>
  listQueues().flatMap(({ models, gate }) => (models.includes(model) ? [gate.name] : []));

/** Takes a request that makes no more calls out of the queues of its model's routes. Repeating it is harmless. */
export const leaveQueue = async (request: StoredRequest): Promise<void> => {
  for (const name of gatesOf(request.model)) await removeWaiter(name, request);
};

/**
 * Takes a request that has ended out of its routes: out of the queues, then out of the gates of its model and the gate in its record.
 * Repeating it is harmless. Never rejects.
 */
export const leaveRoute = (request: StoredRequest, clock: Clock): Promise<void> =>
  quietly(request, clock, async () => {
    await leaveQueue(request);
    for (const name of new Set([...gatesOf(request.model), request.gate])) {
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
