import { findModelRoute, listModelRoutes } from '../provider-calls/model-routes.ts';
import type { ModelRoute } from '../provider-calls/providers.ts';
import { type Gate, gatesFor, gatesOf } from './gate-rules.ts';

/** The name of a route. Models that lead to the same upstream model share its limits. */
export const routeNameOf = ({ provider, upstreamModel }: ModelRoute): string =>
  `${provider}/${upstreamModel}`;

/** The gates of a route under today's configuration; none when it has no limit, or no model leads there. */
export const gatesOfRoute = (route: ModelRoute): Gate[] => {
  const name = routeNameOf(route);
  const configured = Object.values(listModelRoutes()).find((one) => routeNameOf(one) === name);
  return gatesOf(name, configured ?? {});
};

/** The gates at which a request asks for a permit of a route; it waits at the last. None without a limit. */
export const gatesToTry = (requestId: string, route: ModelRoute): Gate[] =>
  gatesFor(requestId, gatesOfRoute(route));

/** As `gatesToTry`, for the route of a model. */
export const gatesOfModel = (requestId: string, model: string): Gate[] => {
  const route = findModelRoute(model);
  return route ? gatesToTry(requestId, route) : [];
};

/** A gate by its name; undefined when it is not configured any more. */
export const findGate = (name: string): Gate | undefined =>
  Object.values(listModelRoutes())
    .flatMap((route) => gatesOf(routeNameOf(route), route))
    .find((gate) => gate.name === name);
