import { listModelRoutes, routesOf } from '../provider-calls/model-routes.ts';
import type { ModelRoute } from '../provider-calls/providers.ts';
import { routeNameOf } from '../provider-calls/route-names.ts';
import { type Gate, gateOf, unlimitedGateOf } from './gate-rules.ts';

/**
 * The gates of all configured routes that have a limit, or are one of several, by the route's name. Requests wait at one without a limit
 * while its route is left out, and all others too.
 */
export const listRouteGates = (): Map<string, Gate> =>
  new Map(
    Object.values(listModelRoutes()).flatMap((list) =>
      list.flatMap((route) => {
        const name = routeNameOf(route);
        const gate = gateOf(name, route) ?? (list.length > 1 ? unlimitedGateOf(name) : undefined);
        return gate ? [[name, gate] as const] : [];
      }),
    ),
  );

/** The names of all routes that are one of several to a model. */
export const listAlternatives = (): string[] => [
  ...new Set(
    Object.values(listModelRoutes()).flatMap((list) => (list.length > 1 ? list.map(routeNameOf) : [])),
  ),
];

/** The gate of a route; undefined for one that no request waits at. */
export const gateOfRoute = (route: ModelRoute): Gate | undefined => listRouteGates().get(routeNameOf(route));

/** The gates of the routes of a model. */
export const gatesOfModel = (model: string): Gate[] =>
  routesOf(model).flatMap((route) => gateOfRoute(route) ?? []);

/** A gate by its name; undefined when it is not configured. */
export const findGate = (name: string): Gate | undefined =>
  [...listRouteGates().values()].find((gate) => gate.name === name);
