import { type RouteQueue, readRouteQueue } from '../core/admission/queue-order.ts';
import { listRequestIdsOfAccount } from '../core/requests/account-requests.ts';
import { isTerminal, type StoredRequest } from '../core/requests/request-rules.ts';
import { findRequests } from '../core/requests/requests.ts';
import { isPaused } from '../core/route-pauses/pause-rules.ts';
import { readRouteStates } from '../core/route-pauses/route-states.ts';
import type { Outlook } from './story-span.ts';

/** Recent requests of an account that are looked at. */
const LOOKED_AT = 50;

/** The seconds that the middle one of a route's recent requests took, from its first call; undefined without any. */
export const typicalSeconds = (recent: readonly StoredRequest[], route: string): number | undefined => {
  const taken = recent
    .filter(({ status, assignment }) => status === 'succeeded' && assignment?.route === route)
    .flatMap(({ dispatchedAt, finishedAt }) =>
      dispatchedAt === undefined || finishedAt === undefined
        ? []
        : [(Date.parse(finishedAt) - Date.parse(dispatchedAt)) / 1000],
    )
    .sort((one, other) => one - other);
  return taken[Math.floor(taken.length / 2)];
};

/** What is known of a route for the outlook of a request. */
export interface RouteOutlook {
  queue: RouteQueue;
  isPaused: boolean;
  typicalSeconds: number | undefined;
}

/** The seconds until a request at a position of a queue has its turn: a round of the calls that run at once for each round before it. */
const secondsToTurn = (position: number, { queue: { permits }, typicalSeconds = 0 }: RouteOutlook): number =>
  Math.ceil(position / (permits ?? 1)) * typicalSeconds;

/** The outlook of an unfinished request at a route. */
export const outlookOf = (request: StoredRequest, at: RouteOutlook, now: Date): Outlook => {
  const { queue, typicalSeconds: typical } = at;
  const route = request.assignment?.route ?? '';
  const index = queue.order.indexOf(request.requestId);
  const rounded = (seconds: number): number | null =>
    typical === undefined ? null : Math.max(0, Math.round(seconds));
  if (index >= 0) {
    const full = queue.permits === undefined ? '' : `, ${queue.running ?? 0} of ${queue.permits} running`;
    return {
      waitsFor: at.isPaused ? `${route}, which is paused` : `its turn at ${route}${full}`,
      ...{ position: index + 1, queued: queue.order.length },
      aboutSeconds: at.isPaused ? null : rounded(secondsToTurn(index + 1, at) + (typical ?? 0)),
    };
  }
  const { dispatchedAt } = request;
  const elapsed = dispatchedAt === undefined ? 0 : (now.getTime() - Date.parse(dispatchedAt)) / 1000;
  return {
    waitsFor: dispatchedAt === undefined ? `its first call to ${route}` : `the result of ${route}`,
    ...{ position: null, queued: null },
    aboutSeconds: rounded((typical ?? 0) - elapsed),
  };
};

/** The latest requests of the account of a request that are of its kind, and are within retention. */
const recentOf = async ({ accountId, kind }: StoredRequest): Promise<StoredRequest[]> => {
  const ids: string[] = [];
  for await (const id of listRequestIdsOfAccount(accountId, { kind, state: 'succeeded' }, LOOKED_AT)) {
    ids.push(id);
    if (ids.length === LOOKED_AT) break;
  }
  return (await findRequests(ids)).requests;
};

/** The outlook of a request; undefined once it has ended, and before it has a route. Reads its route's queue and its account's latest requests. */
export const findOutlook = async (request: StoredRequest, now: Date): Promise<Outlook | undefined> => {
  const route = request.assignment?.route;
  if (isTerminal(request) || route === undefined) return undefined;
  const [queue, states, recent] = await Promise.all([
    readRouteQueue(route),
    readRouteStates([route]),
    recentOf(request),
  ]);
  const state = states.get(route);
  return outlookOf(
    request,
    {
      queue,
      isPaused: state !== undefined && isPaused(state),
      typicalSeconds: typicalSeconds(
        recent.filter(({ model }) => model === request.model),
        route,
      ),
    },
    now,
  );
};

/** The position of each queued request at its route: `3 of 12`. Reads the queue of each route once. */
export const queuePositions = async (requests: readonly StoredRequest[]): Promise<Map<string, string>> => {
  const waiting = requests.filter((request) => !isTerminal(request) && request.assignment !== undefined);
  const routes = [...new Set(waiting.map(({ assignment }) => assignment?.route ?? ''))];
  const queues = await Promise.all(routes.map(readRouteQueue));
  return new Map(
    queues.flatMap(({ order }) => order.map((id, index) => [id, `${index + 1} of ${order.length}`] as const)),
  );
};
