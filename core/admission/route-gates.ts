import { listModelRoutes, routesOf } from '../provider-calls/model-routes.ts';
import type { ModelRoute } from '../provider-calls/providers.ts';
import { routeNameOf } from '../provider-calls/route-names.ts';
import { type Gate, gateNameOf, gateOf, isLimited } from './gate-rules.ts';

/**
 * The gates of all configured routes that have a limit, or are one of several, by the route's name. Requests wait at one without a limit
 * while its route is left out, and all others too.
 */
export const listRouteGates = (): Map<string, Gate> =>
  new Map(
    Object.values(listModelRoutes()).flatMap((list) =>
      list.flatMap((route) => {
        const name = routeNameOf(route);
        const gate = gateOf(name, route);
        return isLimited(gate) || list.length > 1 ? [[name, gate] as const] : [];
      }),
    ),
  );

/** The names of all routes that are one of several to a model; with `gateName`, to a model that has the route of that gate. */
export const listAlternatives = (gateName?: string): string[] => {
  const lists = Object.values(listModelRoutes()).map((list) => list.map(routeNameOf));
  const isWanted = (names: readonly string[]): boolean =>
    names.length > 1 && (gateName === undefined || names.some((name) => gateNameOf(name) === gateName));
  return [...new Set(lists.filter(isWanted).flat())];
};

/** The gate of a route; one without limits when the route is not configured, or has none. */
export const gateOfRoute = (route: ModelRoute): Gate => {
  const name = routeNameOf(route);
  return listRouteGates().get(name) ?? gateOf(name, {});
};

/** The gates of the routes of a model at which requests may wait. */
export const gatesOfModel = (model: string): Gate[] => {
  const gates = listRouteGates();
  return routesOf(model).flatMap((route) => gates.get(routeNameOf(route)) ?? []);
};

/** A gate by its name; undefined when it is not configured. */
export const findGate = (name: string): Gate | undefined =>
  [...listRouteGates().values()].find((gate) => gate.name === name);
