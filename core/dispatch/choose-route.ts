import type { PassedOver } from '../provider-calls/provider-attempts.ts';
import { isPaused, mayTry, type RouteState, whyPaused } from '../route-pauses/pause-rules.ts';
import type { Instant } from '../time.ts';

/** A route that a request may be assigned to, by its name. */
export interface RouteOption {
  route: string;
  state: RouteState;
}

/** Facts about a request that decide its route. */
export interface RouteWishes {
  /** The route of its assignment; undefined before the first. */
  assigned: string | undefined;
  /** The reason to leave the assigned route, in words for an operator; undefined to stay. */
  leaving: string | undefined;
  /** Whether the assigned route was too busy for a call of the request. */
  isThrottled: boolean;
  /** Routes that cannot be used now, by name, with the reason. */
  except: ReadonlyMap<string, string>;
}

/** The choice for a request. */
export type Choice =
  /** Make the calls at this route, as a trial if the route is paused. */
  | { kind: 'go'; route: string; isTrial: boolean; passedOver: PassedOver[] }
  /** Stay at the route, which is paused for throttling until this time. */
  | { kind: 'pause'; route: string; until: Instant }
  /** Queue at this route until a route is usable. `mayMove`: another route, which has not refused us, may become usable. */
  | { kind: 'wait'; route: string; mayMove: boolean };

/**
 * Chooses the route of a request among `options`, at least one, in the order of the configuration. A request stays at its
 * assigned route unless the request is `leaving` or the route is paused. A pause for throttling does not move a request whose own
 * call was throttled. Otherwise the choice is the first route without a pause, or with a pause that is over. When no other route
 * is usable, a leaving request keeps its own route.
 */
export const chooseRoute = (
  options: readonly RouteOption[],
  { assigned, leaving, isThrottled, except }: RouteWishes,
  now: Date,
): Choice => {
  const own = options.find(({ route }) => route === assigned);
  const isUsable = ({ route, state }: RouteOption): boolean =>
    !except.has(route) && (!isPaused(state) || mayTry(state, now));
  const isStaying = own !== undefined && leaving === undefined;
  if (
    isStaying &&
    isThrottled &&
    !isUsable(own) &&
    own.state.pauseReason === 'busy' &&
    !except.has(own.route)
  )
    return { kind: 'pause', route: own.route, until: own.state.pausedUntil ?? '' };
  const inOrder = own ? [own, ...options.filter((option) => option !== own)] : options;
  const wanted = isStaying ? inOrder : options.filter((option) => option !== own);
  const chosen = wanted.find(isUsable) ?? inOrder.find(isUsable);
  const [first] = inOrder;
  if (!chosen) {
    if (!first) throw new Error('There is no route to choose from.');
    const mayMove = options.some(({ route, state }) => route !== assigned && state.pauseReason !== 'access');
    return { kind: 'wait', route: first.route, mayMove };
  }
  const before = options.slice(0, options.indexOf(chosen));
  const passedOver = before.map(({ route, state }) => ({
    route,
    why: except.get(route) ?? (route === assigned ? leaving : undefined) ?? whyPaused(state),
  }));
  return { kind: 'go', route: chosen.route, isTrial: isPaused(chosen.state), passedOver };
};
