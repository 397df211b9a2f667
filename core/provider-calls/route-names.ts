import { listModelRoutes } from './model-routes.ts';

/** The name of a route. Models that lead to the same upstream model share its limits. */
export const routeNameOf = ({
  provider,
  upstreamModel,
}: {
  provider: string;
  upstreamModel: string;
}): string => `${provider}/${upstreamModel}`;

/** The models of the configuration with the names of their routes. */
export const listRouteNames = (): Map<string, string[]> =>
  new Map(Object.entries(listModelRoutes()).map(([model, routes]) => [model, routes.map(routeNameOf)]));
