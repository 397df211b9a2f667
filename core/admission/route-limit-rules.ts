import * as z from 'zod/mini';
import { MOST_RETRY_AFTER_SECONDS } from '../provider-calls/attempt-rules.ts';
import type { ConfiguredRoute } from '../provider-calls/model-routes.ts';
import { permitAttribute } from '../table/keys.ts';
import { latestEndMs } from '../time.ts';
import type { QueueEntry, WaitingAccount } from './queue-entries.ts';

/** The settings of a route that limit its calls. */
export type RouteLimitSettings = Pick<ConfiguredRoute, 'maxRunning' | 'requestsPerSecond'>;

/** Limits how many calls of a route run at once and how many start a second. Both limits are optional. */
export interface RouteLimit {
  /** The name of the route. */
  name: string;
  /** Most calls running at once. */
  permits: number | undefined;
  /** Milliseconds between two starts. */
  intervalMs: number | undefined;
}

/** The limit of a route with these settings. */
export const routeLimitOf = (
  route: string,
  { maxRunning, requestsPerSecond }: RouteLimitSettings,
): RouteLimit => ({
  name: route,
  permits: maxRunning ?? undefined,
  intervalMs: requestsPerSecond == null ? undefined : 1000 / requestsPerSecond,
});

/** Whether calls need a permit of a route. */
export const isLimited = ({ permits, intervalMs }: RouteLimit): boolean =>
  permits !== undefined || intervalMs !== undefined;

/**
 * A request's permission to make `weight` calls at once. `takenMs`, when it was taken, distinguishes it from the request's earlier permits. `startMs` is
 * when the first call may start; absent: at once. Both are epoch milliseconds.
 */
export const Permit = z.object({
  accountId: z.string(),
  weight: z.number(),
  takenMs: z.number(),
  startMs: z.optional(z.number()),
});
export type Permit = z.infer<typeof Permit>;

/** A route limit as stored. */
export interface RouteLimitState {
  /** The weight of all permits. */
  used: number;
  /** The stamp of the last request that began to wait; undefined when none waits. While set, newcomers are refused. */
  queued: string | undefined;
  /** The earliest start of the next call. */
  nextStartMs: number | undefined;
  /** The permits, by the request that holds them. */
  permits: ReadonlyMap<string, Permit>;
  /** The requests whose permits cannot be read. An unreadable permit keeps its room until the request ends. */
  unreadable: ReadonlySet<string>;
}

/** A permit is given at most this long before its start. */
export const HORIZON_MS = 5_000;

/** The number of calls that a request may make at once. */
export const weightOf = (calls: number, { permits = calls }: RouteLimit): number => Math.min(calls, permits);

/** The latest `nextStartMs` with which a route gives a permit. Without a rate, one to come is a pause that the provider asked for. */
const latestStartMs = ({ intervalMs }: RouteLimit, nowMs: number): number =>
  intervalMs === undefined ? nowMs : nowMs + HORIZON_MS;

/** Most starts that one permit takes: the images of a request. */
const MOST_STARTS = 15;

/** A next start beyond this was set by a clock that was ahead, and counts as past. A provider's own pause is a minute at most. */
export const farthestStartMs = ({ intervalMs = 0 }: RouteLimit, nowMs: number): number => {
  const longestMs = Math.max(MOST_RETRY_AFTER_SECONDS * 1000, HORIZON_MS + MOST_STARTS * intervalMs);
  return latestEndMs(new Date(nowMs), longestMs);
};

/** The next start of a route, if it is still to come. */
export const startToCome = (
  limit: RouteLimit,
  { nextStartMs = 0 }: Pick<RouteLimitState, 'nextStartMs'>,
  nowMs: number,
): number | undefined =>
  nextStartMs > nowMs && nextStartMs <= farthestStartMs(limit, nowMs) ? nextStartMs : undefined;

/** Whether a route can give a permit of this weight now. */
export const hasRoom = (
  limit: RouteLimit,
  state: Pick<RouteLimitState, 'used' | 'nextStartMs'>,
  weight: number,
  nowMs: number,
): boolean =>
  (limit.permits === undefined || state.used + weight <= limit.permits) &&
  (startToCome(limit, state, nowMs) ?? 0) <= latestStartMs(limit, nowMs);

/** Calls of each account that run, or are about to. */
export const runningOf = ({ permits }: Pick<RouteLimitState, 'permits'>): Map<string, number> => {
  const running = new Map<string, number>();
  for (const { accountId, weight } of permits.values()) {
    running.set(accountId, (running.get(accountId) ?? 0) + weight);
  }
  return running;
};

/**
 * The account whose oldest request is next: the one with the fewest calls running, then the one served longest ago.
 * Undefined when there is none.
 */
export const chooseAccount = (
  accounts: readonly WaitingAccount[],
  running: ReadonlyMap<string, number>,
): WaitingAccount | undefined => {
  const callsOf = ({ accountId }: WaitingAccount): number => running.get(accountId) ?? 0;
  const textOf = ({ servedAt, accountId }: WaitingAccount): string => `${servedAt} ${accountId}`;
  return accounts.toSorted(
    (one, other) => callsOf(one) - callsOf(other) || (textOf(one) < textOf(other) ? -1 : 1),
  )[0];
};

/** A request for a permit, with the number of calls at once and in all. */
export type Entrant = Pick<QueueEntry, 'requestId' | 'accountId' | 'weight' | 'starts'>;

/** Milliseconds by which a request's calls postpone the next start at a route with a rate; 0 without a rate. */
export const stepMs = ({ intervalMs = 0 }: RouteLimit, { starts }: Pick<Entrant, 'starts'>): number =>
  Math.ceil(starts * intervalMs);

/** The permit that a request takes, for calls from `startMs` on. */
export const permitOf = ({ accountId, weight }: Entrant, takenMs: number, startMs: number): Permit => ({
  accountId,
  weight,
  takenMs,
  ...(startMs > takenMs && { startMs }),
});

/** The part of an update that is about the route's next start. */
interface StartPart {
  condition: string;
  set?: string;
  values: Record<string, unknown>;
}

/** Lets the first call start now, if no later start is to come. */
const startNow = (limit: RouteLimit, entrant: Entrant, nowMs: number): StartPart => {
  const step = stepMs(limit, entrant);
  return {
    condition: '(attribute_not_exists(nextStartMs) OR nextStartMs <= :now OR nextStartMs > :farthest)',
    ...(step > 0 && { set: 'nextStartMs = :next' }),
    values: {
      ':now': nowMs,
      ':farthest': farthestStartMs(limit, nowMs),
      ...(step > 0 && { ':next': nowMs + step }),
    },
  };
};

/** The update by which a request takes a permit, if a permit is stored and there is room. Refused for a request with a permit. */
const takingUpdate = (limit: RouteLimit, requestId: string, permit: Permit | undefined, start: StartPart) => {
  const sets = [
    ...(start.set === undefined ? [] : [start.set]),
    ...(permit ? ['#permit = :permit, used = if_not_exists(used, :zero) + :weight'] : []),
  ];
  const most = permit && limit.permits !== undefined ? limit.permits - permit.weight : undefined;
  const room = most === undefined ? '' : ' AND (attribute_not_exists(used) OR used <= :most)';
  return {
    UpdateExpression: `SET ${sets.join(', ')}`,
    ConditionExpression: `attribute_not_exists(#permit) AND ${start.condition}${room}`,
    ExpressionAttributeNames: { '#permit': permitAttribute(requestId) },
    ExpressionAttributeValues: {
      ...start.values,
      ...(permit && { ':permit': permit, ':zero': 0, ':weight': permit.weight }),
      ...(most !== undefined && { ':most': most }),
    },
  };
};

/**
 * The update by which a newcomer takes a permit: refused while a request waits, and without room. DynamoDB has no `max`, so the
 * update has a form for an idle route and a form for a rate in use. Without a limit of running calls, only a start in time is
 * reserved.
 */
export const newcomerUpdate = (limit: RouteLimit, entrant: Entrant, nowMs: number, isIdle: boolean) => {
  const afterOthers: StartPart = {
    condition: 'nextStartMs > :now AND nextStartMs <= :latest',
    set: 'nextStartMs = nextStartMs + :step',
    values: { ':now': nowMs, ':latest': latestStartMs(limit, nowMs), ':step': stepMs(limit, entrant) },
  };
  const start = isIdle ? startNow(limit, entrant, nowMs) : afterOthers;
  const permit = limit.permits === undefined ? undefined : permitOf(entrant, nowMs, nowMs);
  const condition = `attribute_not_exists(queued) AND ${start.condition}`;
  return takingUpdate(limit, entrant.requestId, permit, { ...start, condition });
};

/** The update by which a waiting request takes a permit: refused without room, and when the next start has changed since it was seen. */
export const queuedUpdate = (
  limit: RouteLimit,
  entry: Entrant,
  permit: Permit,
  seenMs: number | undefined,
) => {
  const { takenMs, startMs } = permit;
  const afterSeen = (fromMs: number): StartPart => ({
    condition: 'nextStartMs = :seen',
    set: 'nextStartMs = :next',
    values: { ':next': fromMs + stepMs(limit, entry), ':seen': seenMs },
  });
  const start = startMs === undefined ? startNow(limit, entry, takenMs) : afterSeen(startMs);
  return takingUpdate(limit, entry.requestId, permit, start);
};
