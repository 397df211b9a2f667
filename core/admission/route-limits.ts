import * as z from 'zod/mini';
import { readable } from '../observability.ts';
import { listModelRoutes } from '../provider-calls/model-routes.ts';
import { routeNameOf } from '../provider-names.ts';
import {
  PERMIT_PREFIX,
  permitAttribute,
  QUEUE_LISTING_PARTITION,
  queueListing,
  routeLimitKey,
} from '../table/keys.ts';
import {
  batchGet,
  listingQuery,
  queryItems,
  type StoredItem,
  type UpdateParts,
  updateOf,
  updateWrite,
} from '../table/table.ts';
import { refusedBy, type TransactItem, transact, writeOnCondition } from '../table/transactions.ts';
import { admitWrite, type QueueEntry } from './queue-entries.ts';
import {
  type Entrant,
  farthestStartMs,
  hasRoom,
  isLimited,
  newcomerUpdate,
  Permit,
  permitOf,
  queuedUpdate,
  type RouteLimit,
  type RouteLimitState,
  routeLimitOf,
  startToCome,
  stepMs,
} from './route-limit-rules.ts';

const StoredRouteLimit = z.object({
  used: z._default(z.number(), 0),
  queued: z.optional(z.string()),
  nextStartMs: z.optional(z.number()),
});
const toRouteLimitState = (item: StoredItem = {}): RouteLimitState => {
  const stored = Object.entries(item).flatMap(([name, value]) =>
    name.startsWith(PERMIT_PREFIX) ? [[name.slice(PERMIT_PREFIX.length), value] as const] : [],
  );
  const read = readable(
    stored,
    ([requestId, value]) => [requestId, Permit.parse(value)] as const,
    ([requestId]) => `${item.PK} ${permitAttribute(requestId)}`,
  );
  const permits = new Map(read);
  const unreadable = new Set(stored.map(([requestId]) => requestId).filter((id) => !permits.has(id)));
  const { used, queued, nextStartMs } = StoredRouteLimit.parse(item);
  return { used, queued, nextStartMs, permits, unreadable };
};

/** A request's permission to make calls of a limited route: `isNew` when it was taken now, else held from an earlier run or since it was admitted. */
export interface HeldPermit {
  limit: RouteLimit;
  permit: Permit;
  isNew: boolean;
}

/** A second wrong guess means that another request started between two calls of this process. */
const MAX_GUESSES = 4;

/**
 * Access pattern 61: takes a permit of a route for a newcomer, in one conditional update. Undefined when there is no room, or
 * while a request waits. Returns the permit that the request holds already. Without a limit of running calls, only a start in time is reserved, and no permit is stored.
 */
export const takePermit = async (
  limit: RouteLimit,
  entrant: Entrant,
  now: Date,
): Promise<HeldPermit | undefined> => {
  const nowMs = now.getTime();
  let isIdle = true;
  for (let guess = 0; guess < MAX_GUESSES; guess++) {
    const { state, done } = await update(limit.name, newcomerUpdate(limit, entrant, nowMs, isIdle));
    const { nextStartMs = 0 } = state;
    if (done) {
      const startMs = isIdle ? nowMs : nextStartMs - stepMs(limit, entrant);
      return { limit, permit: permitOf(entrant, nowMs, startMs), isNew: true };
    }
    const held = state.permits.get(entrant.requestId);
    if (held) return { limit, permit: held, isNew: false };
    if (state.queued !== undefined || !hasRoom(limit, state, entrant.weight, nowMs)) break;
    isIdle = startToCome(limit, state, nowMs) === undefined;
  }
  return undefined;
};

/**
 * Access pattern 61: takes a permit for the next queued request and records it on the queue entry. Refused without room, and
 * when the request no longer waits under its token. Returns the route limit afterwards; undefined, with nothing written, when refused.
 */
export const takePermitFor = async (
  limit: RouteLimit,
  entry: QueueEntry,
  seen: RouteLimitState,
  now: Date,
): Promise<RouteLimitState | undefined> => {
  const nowMs = now.getTime();
  const startMs = startToCome(limit, seen, nowMs) ?? nowMs;
  const permit = permitOf(entry, nowMs, startMs);
  const take = updateWrite(routeLimitKey(limit.name), queuedUpdate(limit, entry, permit, seen.nextStartMs));
  const writes: TransactItem[] = [take, admitWrite(limit.name, entry, nowMs)];
  let isRefused = false;
  await transact((refusals) => {
    isRefused = writes.some((_, index) => refusedBy(refusals, index));
    return isRefused ? [] : writes;
  });
  if (isRefused) return undefined;
  return {
    ...seen,
    used: seen.used + permit.weight,
    nextStartMs: limit.intervalMs === undefined ? seen.nextStartMs : startMs + stepMs(limit, entry),
    permits: new Map(seen.permits).set(entry.requestId, permit),
  };
};

/**
 * Access pattern 61: gives a request's permit back; with `takenMs`, only the permit taken then. Returns the
 * route limit afterwards; undefined when the request has no such permit. Repeating it is harmless.
 */
export const givePermitBack = async (
  route: string,
  requestId: string,
  takenMs?: number,
): Promise<RouteLimitState | undefined> => {
  const { state, done } = await update(route, {
    UpdateExpression: 'SET used = used - #permit.weight REMOVE #permit',
    ConditionExpression: `attribute_exists(#permit)${takenMs === undefined ? '' : ' AND #permit.takenMs = :taken'}`,
    ExpressionAttributeNames: { '#permit': permitAttribute(requestId) },
    ...(takenMs !== undefined && { ExpressionAttributeValues: { ':taken': takenMs } }),
  });
  return done ? state : undefined;
};

/** Access pattern 62: lets no call start before `untilMs`: the provider asked for a pause. */
export const postponeStarts = async (limit: RouteLimit, untilMs: number, now: Date): Promise<void> => {
  await update(limit.name, {
    UpdateExpression: 'SET nextStartMs = :until',
    ConditionExpression:
      'attribute_not_exists(nextStartMs) OR nextStartMs < :until OR nextStartMs > :farthest',
    ExpressionAttributeValues: { ':until': untilMs, ':farthest': farthestStartMs(limit, now.getTime()) },
  });
};

/**
 * Access pattern 62: records that a request queues at a route: from now on the route refuses newcomers. Call after the writes of
 * queue entry and account, so that `unmarkQueued` finds the request.
 */
export const markQueued = async (route: string, stamp: string): Promise<void> => {
  const { GSI1PK, GSI1SK } = queueListing(route);
  await update(route, {
    UpdateExpression: 'SET queued = :stamp, GSI1PK = :list, GSI1SK = :limit',
    ExpressionAttributeValues: { ':stamp': stamp, ':list': GSI1PK, ':limit': GSI1SK },
  });
};

/**
 * Access pattern 62: records that no request queues at a route. False when one began to wait since the route limit was read, which must be
 * before its accounts were.
 */
export const unmarkQueued = async (route: string, seenStamp: string): Promise<boolean> => {
  const { done } = await update(route, {
    UpdateExpression: 'REMOVE queued',
    ConditionExpression: 'queued = :seen',
    ExpressionAttributeValues: { ':seen': seenStamp },
  });
  return done;
};

/** Updates the item of a route limit. Returns it as it is afterwards and, when the condition refused, as it is. */
const update = async (
  route: string,
  expressions: UpdateParts,
): Promise<{ state: RouteLimitState; done: boolean }> => {
  const { done, item } = await writeOnCondition(
    updateOf(routeLimitKey(route), {
      ...expressions,
      ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }),
  );
  return { state: toRouteLimitState(item), done };
};

/** Access pattern 60: route limits by route, strongly consistent, in the order of the names; undefined for one that cannot be read. */
export const readRouteLimits = async (routes: readonly string[]): Promise<(RouteLimitState | undefined)[]> =>
  (await batchGet(routes.map(routeLimitKey))).map(
    (item) => readable([item], toRouteLimitState, () => String(item?.PK))[0],
  );

/** Access pattern 60: the names of all routes at which a request ever queued. Eventually consistent. */
export const listQueuedRoutes = async (): Promise<string[]> => {
  const listed = await queryItems(listingQuery(QUEUE_LISTING_PARTITION));
  return listed.map(({ GSI1SK }) => String(GSI1SK));
};

/** A configured route at which requests may wait, with its models and the names of the other routes of these models. */
export interface Queue {
  limit: RouteLimit;
  models: readonly string[];
  others: readonly string[];
}

/**
 * The queues of all routes that have a limit, or are one of several. Requests wait at a route without a limit while it is paused, and all
 * others too.
 */
export const listQueues = (): Queue[] => {
  const queues = new Map<string, Queue>();
  for (const [model, routes] of Object.entries(listModelRoutes())) {
    const names = routes.map(routeNameOf);
    for (const route of routes) {
      const name = routeNameOf(route);
      const { models, others } = queues.get(name) ?? { models: [], others: [] };
      queues.set(name, {
        ...{ limit: routeLimitOf(name, route), models: [...models, model] },
        others: [...others, ...names.filter((other) => other !== name)],
      });
    }
  }
  return [...queues.values()].filter(({ limit, others }) => isLimited(limit) || others.length > 0);
};

/** The limit of a route by its name; undefined when requests never queue at the route, or it is not configured. */
export const findRouteLimit = (name: string): RouteLimit | undefined =>
  listQueues().find(({ limit }) => limit.name === name)?.limit;
