import * as z from 'zod/mini';
import { requiredEnv } from '../environment.ts';
import type { CatalogModel } from '../models/catalog.ts';
import type { ModelSettings } from '../models/model-settings.ts';
import { rateOf } from '../models/rates.ts';
import { remembersLast } from '../parsed-texts.ts';
import { namesOfProvider, PROVIDER_IDS, type ProviderId } from '../provider-names.ts';
import { limitsOf, UpstreamLimits, unservable } from './upstream-limits.ts';

/** A gate's item holds its permits: with 200 it has some 20 KB, so a write costs 20 units. */
export const MAX_RUNNING = 200;
/** Starts change the gate's item, which takes 1,000 write units a second, and the reconciler lets some 200 requests a second in. */
const MAX_REQUESTS_PER_SECOND = 100;

/**
 * The provider of each model, by model id: deployment configuration. A model without an entry has none.
 * `limits` replaces the built-in limits of its upstream. With `refusesEarly`, a creation beyond them is
 * refused with 400, although the catalog allows it. `maxRunning` is the most calls and tasks under way at
 * once, `requestsPerSecond` the most creations; null or absent: no limit. `queriesAtOnce` and
 * `queriesPerSecond` are how fast the reconciler queries tasks: 4 at once and 10 a second by default, for all
 * models of a provider together.
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
    maxRunning: z.optional(z.nullable(z.int().check(z.minimum(1), z.maximum(MAX_RUNNING)))),
    requestsPerSecond: z.optional(
      z.nullable(z.number().check(z.minimum(0.01), z.maximum(MAX_REQUESTS_PER_SECOND))),
    ),
    queriesAtOnce: z.optional(z.int().check(z.minimum(1), z.maximum(50))),
    queriesPerSecond: z.optional(z.number().check(z.minimum(0.1), z.maximum(100))),
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
  const problem = unservable(model, route, requiredEnv(namesOfProvider(route.provider).baseUrlVariable));
  if (problem) return problem;
  if (settings?.enabled === false) return 'switched off by the operator';
  if (!rateOf(model.id, settings)) return 'no rate';
  return undefined;
};

/** How fast the tasks of a provider may be queried: the most that any of its routes says. The credential's limit is what counts. */
export const queryLimitsOf = (providerId: string): { atOnce: number; perSecond: number } => {
  const routes = Object.values(listModelRoutes()).filter(({ provider }) => provider === providerId);
  return {
    atOnce: Math.max(...routes.flatMap(({ queriesAtOnce }) => queriesAtOnce ?? []), 0) || 4,
    perSecond: Math.max(...routes.flatMap(({ queriesPerSecond }) => queriesPerSecond ?? []), 0) || 10,
  };
};
