import { requiredEnv } from '../core/environment.ts';
import { routesOf } from '../core/provider-calls/model-routes.ts';
import { providerAddress } from '../core/provider-calls/provider-urls.ts';
import type {
  CallbackCheck,
  Provider,
  ProviderRoute,
  RouteOrOrigin,
  SentCallback,
} from '../core/provider-calls/providers.ts';
import { namesOfProvider, type ProviderId } from '../core/provider-names.ts';
import { readSecret } from '../core/secrets.ts';
import { Fal } from './fal/fal.ts';
import { checkFalCallback } from './fal/webhooks.ts';
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

type CheckCallback = (
  sent: SentCallback,
  baseUrl: string,
  now: Date,
  signal: AbortSignal,
) => Promise<CallbackCheck>;

/** The providers that sign their callbacks. */
const CALLBACK_CHECKS: Partial<Record<ProviderId, CheckCallback>> = { fal: checkFalCallback };

/** Providers wait 5 s or more for the answer to a callback. */
const CHECK_TIMEOUT_MS = 3_000;

/** Checks the signature of a callback whose token is right. One of a provider that signs none has none to check. */
export const checkCallback = async (
  provider: string,
  sent: SentCallback,
  now: Date,
): Promise<CallbackCheck> => {
  const checks: Readonly<Record<string, CheckCallback>> = CALLBACK_CHECKS;
  const check = Object.hasOwn(checks, provider) ? checks[provider] : undefined;
  if (!check) return 'genuine';
  const baseUrl = providerAddress(provider as ProviderId);
  return check(sent, baseUrl, now, AbortSignal.timeout(CHECK_TIMEOUT_MS));
};
