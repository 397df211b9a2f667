import { findModelRoute, listModelRoutes } from '../provider-calls/model-routes.ts';
import type { ModelRoute } from '../provider-calls/providers.ts';
import { routeNameOf } from '../provider-calls/route-names.ts';
import { type Gate, gateOf } from './gate-rules.ts';

export { routeNameOf } from '../provider-calls/route-names.ts';

/** The gates of all configured routes that have a limit, by the route's name. */
export const listRouteGates = (): Map<string, Gate> =>
  new Map(
    Object.values(listModelRoutes()).flatMap((route) => {
      const name = routeNameOf(route);
      const gate = gateOf(name, route);
      return gate ? [[name, gate] as const] : [];
    }),
  );

/** The gate of a route; undefined when it has no limit, or no model leads there. */
export const gateOfRoute = (route: ModelRoute): Gate | undefined => listRouteGates().get(routeNameOf(route));

/** As `gateOfRoute`, for the route of a model. */
export const gateOfModel = (model: string): Gate | undefined => {
  const route = findModelRoute(model);
  return route && gateOfRoute(route);
};

/** A gate by its name; undefined when it is not configured. */
export const findGate = (name: string): Gate | undefined =>
  [...listRouteGates().values()].find((gate) => gate.name === name);
