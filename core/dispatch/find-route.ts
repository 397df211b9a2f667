import type { ProviderRoute, ProviderRouteOf, RouteOrOrigin } from '../provider-calls/providers.ts';
import type { ProviderId } from '../provider-names.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { isSecretEmpty, SECRET_MAX_AGE_SECONDS } from '../secrets.ts';

/** Until when a provider counts as without a key, in epoch milliseconds. */
const keyless = new Map<ProviderId, number>();

/** The providers known to have no key. */
export const keylessProviders = (now: Date): Set<ProviderId> =>
  new Set([...keyless].filter(([, untilMs]) => untilMs > now.getTime()).map(([provider]) => provider));

/**
 * The provider of a chosen route. Undefined when it is now known to have no key and the model has other routes; that is looked up once in 5
 * min. Throws otherwise.
 */
export const findRoute = async (
  { model }: StoredRequest,
  { route, others }: { route: RouteOrOrigin | undefined; others: readonly string[] },
  providerRouteOf: ProviderRouteOf,
  now: Date,
): Promise<ProviderRoute | undefined> => {
  if (route === undefined || others.length === 0) return providerRouteOf(model, route);
  if (keylessProviders(now).has(route.provider)) throw new Error(`No provider of ${model} has a key.`);
  try {
    return await providerRouteOf(model, route);
  } catch (error) {
    if (!isSecretEmpty(error)) throw error;
    keyless.set(route.provider, now.getTime() + SECRET_MAX_AGE_SECONDS * 1000);
    return undefined;
  }
};
