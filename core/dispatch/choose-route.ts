import { gateNameOf } from '../admission/gate-rules.ts';
import {
  type Cause,
  type Circuit,
  CLOSED,
  isLeftOut,
  isWatched,
  mayProbe,
  whyLeftOut,
} from '../circuits/circuit-rules.ts';
import { currentCircuits } from '../circuits/circuits.ts';
import { attemptsHere, isMovable, latestAttempts } from '../provider-calls/attempt-rules.ts';
import { type ConfiguredRoute, routesFor, routesOf } from '../provider-calls/model-routes.ts';
import { originOf, type PassedOver, type ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import type { ProviderRoute, ProviderRouteOf, RouteOrOrigin } from '../provider-calls/providers.ts';
import { type ProviderId, routeNameOf } from '../provider-names.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { isSecretEmpty, SECRET_MAX_AGE_SECONDS } from '../secrets.ts';
import { whyLeaving } from './dispatch-rules.ts';

/** Where a request goes. */
export interface Choice {
  /** Undefined: the only route of its model, whichever that is. */
  route: RouteOrOrigin | undefined;
  /** Whether it makes all its calls there: it was elsewhere before, or was refused. */
  isMoved?: boolean;
  /** Whether it waits there until a route can be used. */
  isToWait?: boolean;
  /** The names of the routes that may take it, if its model has several. */
  others?: string[];
  /** Why the route is left out, if it is because of failures, and how the end of its calls counts there. */
  cause?: Cause | undefined;
  role?: ProviderAttempt['circuit'];
  passedOver?: PassedOver[];
}

/**
 * Chooses the route of a request, from all its attempts. A request stays at its route while a call there may have been taken, and after
 * a refusal for a reason of its own. Any other request goes to the first route that takes it and is not left out. It leaves the route
 * where it is, or waits, only when it has to. `except` are routes that cannot be used now, with the reason.
 *
 * When all routes are left out, one request tries a route once its pause is over. The others wait at the first route.
 */
export const chooseRoute = async (
  request: StoredRequest,
  all: readonly ProviderAttempt[],
  except: ReadonlyMap<string, string>,
  now: Date,
): Promise<Choice> => {
  const here = attemptsHere(all);
  const stays = latestAttempts(all).find((attempt) => !isMovable(attempt));
  if (stays) return { route: originOf(stays) };
  const isHere = (route: ConfiguredRoute): boolean =>
    here.some((attempt) => routeNameOf(attempt) === routeNameOf(route));
  const configured = routesOf(request.model);
  if (configured.length < 2) {
    const failed = here.find(({ outcome }) => outcome?.kind === 'failed');
    if (failed) return { route: originOf(failed) };
    return { route: undefined, isMoved: !configured.some(isHere) };
  }
  const { routes, unfit } = routesFor(request, keylessProviders(now));
  const others = routes.map(routeNameOf);
  const circuits = await currentCircuits(others, now);
  const circuitOf = (route: ConfiguredRoute): Circuit => circuits.get(routeNameOf(route)) ?? CLOSED;
  const why = whyLeaving(here, now);
  const passedOver: PassedOver[] = [];
  const chosen = (route: ConfiguredRoute, isProbe = false): Choice => {
    const { provider, upstreamModel } = route;
    const circuit = circuitOf(route);
    const role = isProbe ? 'probe' : isWatched(circuit, now) ? 'all' : 'failures';
    const unfitBefore = [...unfit]
      .filter(([one]) => configured.indexOf(one) < configured.indexOf(route))
      .map(([one, reason]) => ({ route: routeNameOf(one), why: reason }));
    return {
      ...{ route: { provider, upstreamModel }, isMoved: !isHere(route), others, cause: circuit.cause, role },
      passedOver: [...unfitBefore, ...passedOver],
    };
  };
  for (const route of inOrder(routes, request, isHere, why !== undefined)) {
    const circuit = circuitOf(route);
    const problem = except.get(routeNameOf(route)) ?? (isHere(route) ? why : undefined);
    if (problem === undefined && !isLeftOut(circuit)) return chosen(route);
    if (problem === undefined && mayProbe(circuit, now, request.requestId)) return chosen(route, true);
    passedOver.push({ route: routeNameOf(route), why: problem ?? whyLeftOut(circuit) });
  }
  // Nobody else takes it: it stays where it is, as long as that is not left out.
  const only = routes.find((route) => isHere(route) && !isLeftOut(circuitOf(route)));
  if (only && !except.has(routeNameOf(only))) {
    // It may have waited here until the route was used again.
    return { ...chosen(only), isMoved: here.some(({ outcome }) => outcome?.kind === 'failed') };
  }
  const [first] = routes;
  if (!first) throw new Error(`${request.model} has no route.`);
  return { ...chosen(first), isToWait: true };
};

/** The route where a request is or waits comes first, unless it leaves that. */
const inOrder = (
  routes: readonly ConfiguredRoute[],
  { gate }: StoredRequest,
  isHere: (route: ConfiguredRoute) => boolean,
  leaves: boolean,
): ConfiguredRoute[] => {
  const waits = (route: ConfiguredRoute): boolean => gateNameOf(routeNameOf(route)) === gate;
  const stay = leaves
    ? routes.find((route) => waits(route) && !isHere(route))
    : (routes.find(isHere) ?? routes.find(waits));
  return stay ? [stay, ...routes.filter((route) => route !== stay)] : [...routes];
};

/** Until when a provider counts as without a key, in epoch milliseconds. */
const keyless = new Map<ProviderId, number>();

/** The providers known to have no key. */
const keylessProviders = (now: Date): Set<ProviderId> =>
  new Set([...keyless].filter(([, untilMs]) => untilMs > now.getTime()).map(([provider]) => provider));

/**
 * The provider of a chosen route. Undefined when it is now known to have no key and the model has other routes; that is looked up once in 5
 * min. Throws otherwise.
 */
export const findRoute = async (
  { model }: StoredRequest,
  { route, others }: Choice,
  providerRouteOf: ProviderRouteOf,
  now: Date,
): Promise<ProviderRoute | undefined> => {
  if (route === undefined || !others) return providerRouteOf(model, route);
  if (keylessProviders(now).has(route.provider)) throw new Error(`No provider of ${model} has a key.`);
  try {
    return await providerRouteOf(model, route);
  } catch (error) {
    if (!isSecretEmpty(error)) throw error;
    keyless.set(route.provider, now.getTime() + SECRET_MAX_AGE_SECONDS * 1000);
    return undefined;
  }
};
