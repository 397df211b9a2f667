import { releasePermit } from '../admission/admission.ts';
import { currentModelSettings, leftRoutesIn } from '../models/model-settings.ts';
import { isMovable, isThrottled } from '../provider-calls/attempt-rules.ts';
import { type ConfiguredRoute, routesFor, routesOf } from '../provider-calls/model-routes.ts';
import { originOf, type PassedOver, type ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import type { ProviderRoute, ProviderRouteOf, RouteOrOrigin } from '../provider-calls/providers.ts';
import { type ProviderId, routeNameOf } from '../provider-names.ts';
import type { Assignment, StoredRequest } from '../requests/request-rules.ts';
import { assignRoute } from '../requests/requests.ts';
import { UNPAUSED } from '../route-pauses/pause-rules.ts';
import { currentRouteStates } from '../route-pauses/route-states.ts';
import { isSecretEmpty, SECRET_MAX_AGE_SECONDS } from '../secrets.ts';
import type { Clock } from '../time.ts';
import { type Choice, chooseRoute } from './choose-route.ts';
import { leaveReason } from './dispatch-rules.ts';

/** The route that a request should take, and the routes that it may take. */
export interface Destination {
  choice: Choice;
  /** Whether the request cannot change route: a provider may have accepted a call, or refused a call for the request's content. */
  isFixed: boolean;
  route: RouteOrOrigin;
  /** The names of the routes that may take the request, if its model has several. */
  options: string[] | undefined;
}

/** No route is excluded. */
export const NONE_PASSED_OVER: PassedOverRoutes = { except: new Map(), untaken: new Map() };

/** The attempts of a request under its assignment. */
export const currentAttempts = (
  { assignment }: StoredRequest,
  all: readonly ProviderAttempt[],
): ProviderAttempt[] => all.filter((attempt) => attempt.assignment === assignment?.number);

/**
 * Routes that a run has excluded, by name, with the reason. `except`: unusable now. `untaken`: never used for the request,
 * because the upstream model does not take one of the request's fields.
 */
export interface PassedOverRoutes {
  except: ReadonlyMap<string, string>;
  untaken: ReadonlyMap<string, string>;
}

/**
 * Finds the destination of a request from the routes that accept the request, the states of the routes, and the request's
 * attempts. Undefined when no route in use accepts the request.
 */
export const findDestination = async (
  request: StoredRequest,
  all: readonly ProviderAttempt[],
  { except, untaken }: PassedOverRoutes,
  now: Date,
): Promise<Destination | undefined> => {
  const current = currentAttempts(request, all);
  const configured = routesOf(request.model);
  const isSeveral = configured.length > 1;
  const fixed = current.find((attempt) => !isMovable(attempt) || (!isSeveral && isFailed(attempt)));
  if (fixed) return fixedAt(fixed);
  const { routes, unfit } = await findAcceptingRoutes(request, untaken, now);
  if (routes.length === 0) return undefined;
  const names = routes.map(routeNameOf);
  const states = isSeveral ? await currentRouteStates(names, now) : new Map();
  const assigned = request.assignment?.route;
  const wishes = {
    assigned,
    leaving: leaveReason(current, states.get(assigned ?? ''), now),
    isThrottled: current.some(isThrottled),
    except,
  };
  const options = names.map((route) => ({ route, state: states.get(route) ?? UNPAUSED }));
  const choice = chooseRoute(options, wishes, now);
  const route = routes[names.indexOf(choice.route)] as ConfiguredRoute;
  if (choice.kind === 'go') choice.passedOver.unshift(...unfitBefore(route, configured, unfit));
  const { provider, upstreamModel } = route;
  return {
    choice,
    isFixed: false,
    route: { provider, upstreamModel },
    options: isSeveral ? names : undefined,
  };
};

/** The routes in use that accept a request, without the `untaken` routes, and the reason that excludes each other route. */
const findAcceptingRoutes = async (
  request: StoredRequest,
  untaken: PassedOverRoutes['untaken'],
  now: Date,
): Promise<ReturnType<typeof routesFor>> => {
  const left = leftRoutesIn(await currentModelSettings(now));
  const { routes, unfit } = routesFor(request, { keyless: keylessProviders(now), left });
  for (const route of routes) {
    const why = untaken.get(routeNameOf(route));
    if (why !== undefined) unfit.set(route, why);
  }
  return { routes: routes.filter((route) => !untaken.has(routeNameOf(route))), unfit };
};

const isFailed = ({ outcome }: ProviderAttempt): boolean => outcome?.kind === 'failed';

const fixedAt = (attempt: ProviderAttempt): Destination => ({
  choice: { kind: 'go', route: routeNameOf(attempt), isTrial: false, passedOver: [] },
  isFixed: true,
  route: originOf(attempt),
  options: undefined,
});

/** The routes before the chosen one that do not take the request, with the reasons. */
const unfitBefore = (
  chosen: ConfiguredRoute,
  configured: readonly ConfiguredRoute[],
  unfit: ReadonlyMap<ConfiguredRoute, string>,
): PassedOver[] =>
  configured
    .slice(0, configured.indexOf(chosen))
    .flatMap((route) => [unfit.get(route) ?? []].flat().map((why) => ({ route: routeNameOf(route), why })));

/**
 * Assigns a request the route of its destination, unless that route is assigned already, and releases the permit of the previous
 * route. The only place where a request changes route. A request whose calls were all refused gets a new assignment, even at the
 * same route, because a permit covers all calls of a request. Undefined when another run has assigned a route or claimed calls
 * since the request was read.
 */
export const assignDestination = async (
  request: StoredRequest,
  all: readonly ProviderAttempt[],
  { choice, isFixed }: Destination,
  clock: Clock,
): Promise<Assignment | undefined> => {
  const { assignment } = request;
  const isAnew = currentAttempts(request, all).some(isFailed);
  if (assignment && (isFixed || (assignment.route === choice.route && !isAnew))) return assignment;
  const assigned = await assignRoute(request, choice.route);
  if (assigned && assignment && assignment.route !== choice.route)
    await releasePermit(request, assignment.route, clock);
  return assigned;
};

/** Until when a provider counts as without a key, in epoch milliseconds. */
const keyless = new Map<ProviderId, number>();

/** The providers known to have no key. */
const keylessProviders = (now: Date): Set<ProviderId> =>
  new Set([...keyless].filter(([, untilMs]) => untilMs > now.getTime()).map(([provider]) => provider));

/**
 * The provider of a destination. Undefined if the provider turns out to have no key while the model has other routes; the key is
 * looked up again after 5 min. Any other failure throws.
 */
export const findProvider = async (
  { model }: StoredRequest,
  { route, options }: Destination,
  providerRouteOf: ProviderRouteOf,
  now: Date,
): Promise<ProviderRoute | undefined> => {
  if (!options) return providerRouteOf(model, route);
  if (keylessProviders(now).has(route.provider)) throw new Error(`No provider of ${model} has a key.`);
  try {
    return await providerRouteOf(model, route);
  } catch (error) {
    if (!isSecretEmpty(error)) throw error;
    keyless.set(route.provider, now.getTime() + SECRET_MAX_AGE_SECONDS * 1000);
    return undefined;
  }
};
