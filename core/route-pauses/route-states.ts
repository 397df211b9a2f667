import { logger } from '../observability.ts';
import { routeStateKey } from '../table/keys.ts';
import { batchGet, type StoredItem, type UpdateParts, updateOf } from '../table/table.ts';
import { writeOnCondition } from '../table/transactions.ts';
import { addSeconds, type Instant, toInstant } from '../time.ts';
import {
  farthestPause,
  nextPauseSeconds,
  outdatedCounts,
  type PauseReason,
  type RouteState,
  StoredRouteState,
  TRIAL_SECONDS,
  UNPAUSED,
} from './pause-rules.ts';

const toRouteState = (item: StoredItem = {}): RouteState => {
  const counts = Object.entries(item).filter(([name]) => name.includes('#'));
  return {
    ...StoredRouteState.parse(item),
    counts: new Map(counts.map(([name, count]) => [name, Number(count)])),
  };
};

/** Access pattern 63: the states of routes by their names, strongly consistent. */
export const readRouteStates = async (routes: readonly string[]): Promise<Map<string, RouteState>> => {
  const items = await batchGet(routes.map(routeStateKey));
  return new Map(routes.map((route, index) => [route, toRouteState(items[index])]));
};

/** Time for which a process uses the states it read. */
const MAX_AGE_MS = 1_000;
const cached = new Map<string, { state: RouteState; readAtMs: number }>();
const remember = (route: string, state: RouteState, now: Date): RouteState => {
  cached.set(route, { state, readAtMs: now.getTime() });
  return state;
};

/** As `readRouteStates`, at most a second old: each dispatch of a model with several routes needs them. */
export const currentRouteStates = async (
  routes: readonly string[],
  now: Date,
): Promise<Map<string, RouteState>> => {
  const isFresh = (route: string): boolean => {
    const readAtMs = cached.get(route)?.readAtMs ?? Number.NEGATIVE_INFINITY;
    return Math.abs(now.getTime() - readAtMs) < MAX_AGE_MS;
  };
  if (!routes.every(isFresh)) {
    for (const [route, state] of await readRouteStates(routes)) remember(route, state, now);
  }
  return new Map(routes.map((route) => [route, cached.get(route)?.state ?? UNPAUSED]));
};

/** Updates a route's state if the condition holds, and remembers what is stored then. Returns whether it held. */
const change = async (route: string, update: UpdateParts, now: Date): Promise<boolean> => {
  const { done, item } = await writeOnCondition(
    updateOf(routeStateKey(route), {
      ...update,
      ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }),
  );
  remember(route, toRouteState(item), now);
  return done;
};

/** The part of an update that removes counts. */
const removing = (counts: readonly string[]) => ({
  names: Object.fromEntries(counts.map((name, index) => [`#old${index}`, name])),
  clause: counts.length === 0 ? '' : ` REMOVE ${counts.map((_, index) => `#old${index}`).join(', ')}`,
});

/** Access pattern 64: adds to counts of a route by their names, and removes counts that are too old. Returns the state afterwards. */
export const addCounts = async (
  route: string,
  added: ReadonlyMap<string, number>,
  now: Date,
): Promise<RouteState> => {
  const names = [...added.keys()];
  const known = cached.get(route)?.state ?? UNPAUSED;
  const old = removing(outdatedCounts(known, now));
  const update = {
    UpdateExpression: `ADD ${names.map((_, index) => `#n${index} :n${index}`).join(', ')}${old.clause}`,
    ExpressionAttributeNames: {
      ...Object.fromEntries(names.map((name, index) => [`#n${index}`, name])),
      ...old.names,
    },
    ExpressionAttributeValues: Object.fromEntries(
      names.map((name, index) => [`:n${index}`, added.get(name)]),
    ),
  };
  await change(route, update, now);
  return cached.get(route)?.state ?? UNPAUSED;
};

/** Facts about an end that pauses a route. */
export interface PauseCause {
  reason: PauseReason;
  /** The start of the call. */
  callAt: Instant;
  /** A provider's own `Retry-After`. */
  retryAfterSeconds?: number | undefined;
}

/**
 * Access pattern 65: pauses a route, or pauses it again after a call that began since the pause began. A call that was under way then changes
 * nothing.
 */
export const pauseRoute = async (
  route: string,
  { reason, callAt, retryAfterSeconds }: PauseCause,
  now: Date,
): Promise<void> => {
  const [known = UNPAUSED] = (await currentRouteStates([route], now)).values();
  const pauseSeconds = nextPauseSeconds(reason, known, retryAfterSeconds);
  const isAgain = known.pausedAt !== undefined;
  const isPaused = await change(
    route,
    {
      UpdateExpression:
        'SET pauseReason = :reason, pausedUntil = :until, pauseSeconds = :pause, pausedAt = if_not_exists(pausedAt, :now)',
      ConditionExpression: isAgain
        ? 'pausedAt < :call AND pauseSeconds = :seen'
        : 'attribute_not_exists(pausedAt)',
      ExpressionAttributeValues: {
        ':reason': reason,
        ':now': toInstant(now),
        ':until': addSeconds(toInstant(now), pauseSeconds),
        ':pause': pauseSeconds,
        ...(isAgain && { ':call': callAt, ':seen': known.pauseSeconds }),
      },
    },
    now,
  );
  // Throttling is ordinary, and over in a minute.
  if (isPaused && reason !== 'busy') logger.error('a route is paused', { route, reason, pauseSeconds });
};

/** Access pattern 65: lets one request try a paused route, by a lease of 60 s. False when none may yet, or another request has the lease. */
export const takeTrial = (route: string, now: Date): Promise<boolean> =>
  change(
    route,
    {
      UpdateExpression: 'SET pausedUntil = :until',
      ConditionExpression: 'attribute_exists(pausedAt) AND (pausedUntil <= :now OR pausedUntil > :farthest)',
      ExpressionAttributeValues: {
        ':now': toInstant(now),
        ':until': addSeconds(toInstant(now), TRIAL_SECONDS),
        ':farthest': farthestPause(now),
      },
    },
    now,
  );

/**
 * Access pattern 65: ends the pause of a route after a call that began since, or after a task of such a call where its tasks had failed.
 * Forgets the counts. Does nothing otherwise.
 */
export const endPause = async (
  route: string,
  of: 'call' | 'task',
  callAt: Instant,
  now: Date,
): Promise<void> => {
  const known = cached.get(route)?.state ?? UNPAUSED;
  const counts = removing([...known.counts.keys()]);
  const isEnded = await change(
    route,
    {
      UpdateExpression: `REMOVE pauseReason, pausedAt, pausedUntil, pauseSeconds${counts.clause.replace(' REMOVE', ',')}`,
      ConditionExpression: `pausedAt < :call AND pauseReason ${of === 'task' ? '=' : '<>'} :tasks`,
      ExpressionAttributeNames: counts.names,
      ExpressionAttributeValues: { ':call': callAt, ':tasks': 'tasks' },
    },
    now,
  );
  if (isEnded) logger.info('a route is used again', { route });
};
