import { listModelRoutes, routesOf } from '../provider-calls/model-routes.ts';
import type { ModelRoute } from '../provider-calls/providers.ts';
import { type Gate, gateOf } from './gate-rules.ts';

/** The name of a route. Models that lead to the same upstream model share its limits. */
export const routeNameOf = ({
  provider,
  upstreamModel,
}: {
  provider: string;
  upstreamModel: string;
}): string => `${provider}/${upstreamModel}`;

/** The gates of all configured routes that have a limit, by the route's name. */
export const listRouteGates = (): Map<string, Gate> =>
  new Map(
    Object.values(listModelRoutes())
      .flat()
      .flatMap((route) => {
        const name = routeNameOf(route);
        const gate = gateOf(name, route);
        return gate ? [[name, gate] as const] : [];
      }),
  );

/** The gate of a route; undefined when it has no limit, or no model leads there. */
export const gateOfRoute = (route: ModelRoute): Gate | undefined => listRouteGates().get(routeNameOf(route));

/** The gates of the routes of a model that have a limit. */
export const gatesOfModel = (model: string): Gate[] =>
  routesOf(model).flatMap((route) => gateOfRoute(route) ?? []);

/** A gate by its name; undefined when it is not configured. */
export const findGate = (name: string): Gate | undefined =>
  [...listRouteGates().values()].find((gate) => gate.name === name);
