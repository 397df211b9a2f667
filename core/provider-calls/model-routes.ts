import * as z from 'zod/mini';
import { requiredEnv } from '../environment.ts';
import type { CatalogModel } from '../models/catalog.ts';
import type { ModelSettings } from '../models/model-settings.ts';
import { rateOf } from '../models/rates.ts';
import { remembersLast } from '../parsed-texts.ts';
import { PROVIDER_ENVIRONMENT } from './provider-environment.ts';
import { PROVIDER_IDS, type ProviderId } from './providers.ts';
import { limitsOf, UpstreamLimits, unservable } from './upstream-limits.ts';

/**
 * The provider of each model, by model id: deployment configuration. A model without an entry has none. `limits` are
 * what its upstream takes, instead of those we know; `refusesEarly`: what it does not take is 400 at the creation, although
 * the catalog allows it. `maxRunning` is the most calls and tasks under way at once, `requestsPerSecond` the most creations;
 * null or absent: no limit.
 *
 * The limits in `cdk.json` are the providers' own, of an account and model. Wan: 5 creations a second and 5 running tasks
 * (https://help.aliyun.com/en/model-studio/rate-limit). Seedream 4.5: 500 images a minute
 * (https://docs.byteplus.com/en/docs/ModelArk/1824121). Of the other models none is published.
 */
export const ModelRoutes = z.record(
  z.string(),
  z.strictObject({
    provider: z.enum(PROVIDER_IDS),
    upstreamModel: z.string().check(z.minLength(1)),
    limits: z.optional(UpstreamLimits),
    refusesEarly: z.optional(z.boolean()),
    maxRunning: z.optional(z.nullable(z.int().check(z.minimum(1), z.maximum(10_000)))),
    requestsPerSecond: z.optional(z.nullable(z.number().check(z.minimum(0.01), z.maximum(1_000)))),
  }),
);
export type ModelRoutes = z.infer<typeof ModelRoutes>;

const parseRoutes = remembersLast((text): Readonly<ModelRoutes> => ModelRoutes.parse(JSON.parse(text)));

/** The routes of all models that have one, by model id. */
export const listModelRoutes = (): Readonly<ModelRoutes> => parseRoutes(requiredEnv('MODEL_ROUTES'));

/** A model's route; undefined when the deployment configures none. */
export const findModelRoute = (modelId: string): ModelRoutes[string] | undefined => {
  const routes = listModelRoutes();
  return Object.hasOwn(routes, modelId) ? routes[modelId] : undefined;
};

/** The limits by which a creation of this model is refused before it is debited; none unless its route refuses early. */
export const earlyLimitsOf = (modelId: string): UpstreamLimits => {
  const route = findModelRoute(modelId);
  return route?.refusesEarly ? limitsOf(route) : {};
};

/**
 * Why a model cannot be dispatched now, in words for an operator. Undefined when it can: it has a provider with a
 * credential that can serve all that the catalog names, it is not switched off, and it has a rate.
 */
export const dispatchProblem = (
  model: CatalogModel,
  settings: ModelSettings | undefined,
  credentials: ReadonlySet<ProviderId>,
): string | undefined => {
  const route = findModelRoute(model.id);
  if (!route) return 'no upstream model is configured';
  if (!credentials.has(route.provider)) return `no credential for ${route.provider}`;
  const problem = unservable(model, route, requiredEnv(PROVIDER_ENVIRONMENT[route.provider].baseUrl));
  if (problem) return problem;
  if (settings?.enabled === false) return 'switched off by the operator';
  if (!rateOf(model.id, settings)) return 'no rate';
  return undefined;
};
