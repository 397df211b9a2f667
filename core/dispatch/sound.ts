import { routesOf } from '../provider-calls/model-routes.ts';
import type { ModelRoute } from '../provider-calls/providers.ts';
import { limitsOf } from '../provider-calls/upstream-limits.ts';
import { routeNameOf } from '../provider-names.ts';
import type { StoredRequest } from '../requests/request-rules.ts';

/**
 * A request as a route is told it: whether a video has sound is said wherever the upstream takes that, by the request or else by the setting
 * of the route. A maker's own default may change, and its price with it.
 */
export const withSound = (request: StoredRequest, called: ModelRoute): StoredRequest => {
  if (request.kind === 'image' || request.generateAudio !== undefined) return request;
  const configured = routesOf(request.model).find((route) => routeNameOf(route) === routeNameOf(called));
  const { parameters = [] } = limitsOf(configured ?? called);
  if (!parameters.includes('generateAudio')) return request;
  return { ...request, generateAudio: configured?.generateAudio ?? true };
};
