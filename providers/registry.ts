import { requiredEnv } from '../core/environment.ts';
import { routesOf } from '../core/provider-calls/model-routes.ts';
import { providerAddress } from '../core/provider-calls/provider-urls.ts';
import type { Provider, ProviderRoute, RouteOrOrigin } from '../core/provider-calls/providers.ts';
import { namesOfProvider, type ProviderId } from '../core/provider-names.ts';
import { readSecret } from '../core/secrets.ts';
import { Fal } from './fal/fal.ts';
import type { Connection } from './http-provider.ts';
import { ModelArk } from './modelark/modelark.ts';
import { ModelStudio } from './modelstudio/modelstudio.ts';

const ADAPTERS: Record<ProviderId, new (connection: Connection) => Provider> = {
  modelark: ModelArk,
  modelstudio: ModelStudio,
  fal: Fal,
};

/**
 * The provider of a route, of a call's origin, or of the model's first route, ready to call with today's key. Throws when the deployment
 * configures none or does not know the origin's address, or its key is missing.
 */
export const providerRouteOf = async (model: string, chosen?: RouteOrOrigin): Promise<ProviderRoute> => {
  const route = chosen ?? routesOf(model)[0];
  if (!route) throw new Error(`No upstream is configured for ${model}.`);
  if (!Object.hasOwn(ADAPTERS, route.provider)) throw new Error(`There is no adapter for ${route.provider}.`);
  const baseUrl = providerAddress(route.provider, chosen?.baseUrl);
  const apiKey = await readSecret(requiredEnv(namesOfProvider(route.provider).secretVariable));
  return { provider: new ADAPTERS[route.provider]({ baseUrl, apiKey }), upstreamModel: route.upstreamModel };
};
