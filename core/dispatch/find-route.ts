import { routesOf } from '../provider-calls/model-routes.ts';
import type { ProviderRoute, ProviderRouteOf } from '../provider-calls/providers.ts';
import type { ProviderId } from '../provider-names.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { isSecretEmpty, SECRET_MAX_AGE_SECONDS } from '../secrets.ts';
import type { Choice } from './choose-route.ts';

/** Until when a provider counts as without a key, in epoch milliseconds. */
const keyless = new Map<ProviderId, number>();

/**
 * The provider of a chosen route. Undefined when it has no key and the model has other routes; that is looked up once in 5 min. Throws
 * otherwise.
 */
export const findRoute = async (
  { model }: StoredRequest,
  { route, others }: Choice,
  providerRouteOf: ProviderRouteOf,
  now: Date,
): Promise<ProviderRoute | undefined> => {
  const isOneOfSeveral = route !== undefined && others.length > 0 && routesOf(model).length > 1;
  if (!isOneOfSeveral) return providerRouteOf(model, route);
  if ((keyless.get(route.provider) ?? 0) > now.getTime()) return undefined;
  try {
    return await providerRouteOf(model, route);
  } catch (error) {
    if (!isSecretEmpty(error)) throw error;
    keyless.set(route.provider, now.getTime() + SECRET_MAX_AGE_SECONDS * 1000);
    return undefined;
  }
};
