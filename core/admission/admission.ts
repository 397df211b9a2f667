import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { runOrLog } from '../observability.ts';
import { MOST_RETRY_AFTER_SECONDS } from '../provider-calls/attempt-rules.ts';
import { listRouteNames } from '../provider-calls/model-routes.ts';
import { routesOfRequest, type StoredRequest, type StoredStatus } from '../requests/request-rules.ts';
import type { Clock } from '../time.ts';
import { keepTrying } from '../transient-errors.ts';
import {
  putQueueEntry,
  type QueueEntry,
  recordServed,
  removeQueueEntry,
  touchAccount,
} from './queue-entries.ts';
import { HORIZON_MS, type RouteLimit, type RouteLimitState } from './route-limit-rules.ts';
import {
  findRouteLimit,
  givePermitBack,
  type HeldPermit,
  markQueued,
  postponeStarts,
} from './route-limits.ts';

/** Waits for the start of a permit. A stored permit of a route without a limit of running calls is given back here. Rejects when it cannot. */
export const startWith = async (
  request: StoredRequest,
  { limit, permit, isNew }: HeldPermit,
  clock: Clock,
): Promise<void> => {
  // A clock that was ahead may have set it.
  const waitMs = Math.min((permit.startMs ?? 0) - clock.now().getTime(), HORIZON_MS);
  if (waitMs > 0) await pause(waitMs);
  if (limit.permits === undefined && !isNew) await returnPermit(limit.name, request, clock, permit.takenMs);
};

/**
 * Puts a request into the queue of a route. The control loop admits the request when its turn comes. Does nothing when the request waits under a
 * newer token.
 */
export const enterQueue = async (route: string, entry: QueueEntry, clock: Clock): Promise<void> => {
  const now = clock.now();
  if (!(await putQueueEntry(route, entry, now))) return;
  // Queue entry, account and mark are written in this order. A control loop that finds no account, and no new mark afterwards,
  // has missed no request.
  const stamp = randomUUID();
  await touchAccount(route, entry.accountId, stamp, now);
  await markQueued(route, stamp);
};

/**
 * Gives a request's permit of a route back, with `takenMs` only the permit taken then. Its account counts as
 * served now. Returns the route limit afterwards; undefined when the request has no such permit. Repeating it is
 * harmless.
 */
export const returnPermit = async (
  route: string,
  { requestId, accountId }: Pick<StoredRequest, 'requestId' | 'accountId'>,
  clock: Clock,
  takenMs?: number,
): Promise<RouteLimitState | undefined> => {
  const state = await givePermitBack(route, requestId, takenMs);
  if (state?.queued !== undefined) await recordServed(route, accountId, clock.now());
  return state;
};

/** Lets no call of a route start for so long: the provider was too busy. */
export const postponeRoute = (limit: RouteLimit, seconds: number, clock: Clock): Promise<boolean> =>
  isDone(limit.name, clock, () => {
    const now = clock.now();
    return postponeStarts(limit, now.getTime() + Math.min(seconds, MOST_RETRY_AFTER_SECONDS) * 1000, now);
  });

/** Whether a route is not configured any more: it may have had limits. */
const isFormer = (route: string): boolean =>
  ![...listRouteNames().values()].some((names) => names.includes(route));

/** Whether calls at a route hold permits, as far as is known. */
const keepsPermits = (route: string): boolean =>
  findRouteLimit(route)?.permits !== undefined || isFormer(route);

/**
 * Releases the permit that a request has at a route, with `takenMs` only the permit taken then. False when that is not known to be done: the
 * closing of the request repeats it. Never rejects.
 */
export const releasePermit = async (
  request: StoredRequest,
  route: string,
  clock: Clock,
  takenMs?: number,
): Promise<boolean> =>
  !keepsPermits(route) ||
  isDone(request.requestId, clock, () => returnPermit(route, request, clock, takenMs));

/** Whether a request may have a permit that is not known to be released. */
export const mayHavePermit = (request: StoredRequest): boolean =>
  routesOfRequest(request).some(
    (route) => keepsPermits(route) && !(request.permitReleased && route === request.assignment?.route),
  );

/**
 * Whether the closing of an ended request has to leave a route: the request may have a permit there or, unless it succeeded, queue. It left the
 * queue before its calls.
 */
export const mayBeAtRoute = (request: StoredRequest, status: StoredStatus): boolean =>
  status === 'succeeded' ? mayHavePermit(request) : routesOfRequest(request).some(hasQueue);

const hasQueue = (route: string): boolean => findRouteLimit(route) !== undefined || isFormer(route);

/** Takes a request that makes no more calls out of the queue of its route. Repeating it is harmless. */
export const leaveQueue = async (request: StoredRequest): Promise<void> => {
  const route = request.assignment?.route;
  if (route !== undefined && hasQueue(route)) await removeQueueEntry(route, request);
};

/**
 * Takes an ended request out of the queues of its routes, and releases its permits. False when a step may have failed. Repeating
 * it is harmless. Never rejects.
 */
export const leaveRoutes = (request: StoredRequest, clock: Clock): Promise<boolean> =>
  leaveNamedRoutes(request, routesOfRequest(request), clock);

/** Does the same at these routes, for a request whose record may be deleted. */
export const leaveNamedRoutes = (
  request: Pick<StoredRequest, 'requestId' | 'accountId' | 'createdAt'>,
  routes: readonly string[],
  clock: Clock,
): Promise<boolean> =>
  isDone(request.requestId, clock, async () => {
    for (const route of routes) {
      if (!hasQueue(route)) continue;
      await removeQueueEntry(route, request);
      await returnPermit(route, request, clock);
    }
  });

/** Time in which transient errors are retried. */
const GIVE_BACK_MS = 5_000;

/** Whether an act at a route was done, with retries. An error is logged, and does not cost the request its result. */
const isDone = (of: string, clock: Clock, act: () => Promise<unknown>): Promise<boolean> => {
  const endMs = clock.now().getTime() + GIVE_BACK_MS;
  const retried = async (): Promise<boolean> => {
    await keepTrying(act, () => clock.now().getTime() < endMs);
    return true;
  };
  return runOrLog({ message: 'a permit could not be released', of }, retried, () => false);
};
