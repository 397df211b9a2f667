import { requiredEnv } from '../core/environment.ts';
import { routesOf } from '../core/provider-calls/model-routes.ts';
import { providerAddress } from '../core/provider-calls/provider-urls.ts';
import type { Provider, ProviderRoute, RouteOrOrigin } from '../core/provider-calls/providers.ts';
import { isProviderId, type Maker, makerOf, namesOfProvider } from '../core/provider-names.ts';
import { readSecret } from '../core/secrets.ts';
import { Fal } from './fal/fal.ts';
import type { Connection } from './http-provider.ts';
import { ModelArk } from './modelark/modelark.ts';
import { ModelStudio } from './modelstudio/modelstudio.ts';

const ADAPTERS: Record<Maker, new (connection: Connection) => Provider> = {
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
  const { provider: id, upstreamModel } = route;
  if (!isProviderId(id)) throw new Error(`There is no adapter for ${id}.`);
  const baseUrl = providerAddress(id, chosen?.baseUrl);
  const apiKey = await readSecret(requiredEnv(namesOfProvider(id).secretVariable));
  return { provider: new ADAPTERS[makerOf(id)]({ id, baseUrl, apiKey }), upstreamModel };
};
