import * as z from 'zod/mini';
import { requiredEnv } from '../environment.ts';
import type { CatalogModel } from '../models/catalog.ts';
import { type ModelSettings, rateOf } from '../models/model-settings.ts';
import { type ModelRoute, PROVIDER_IDS, type ProviderId } from './providers.ts';

/** Where each model's requests go, by model id: the deployment's configuration. A model left out has no upstream. */
export const ModelRoutes = z.record(
  z.string(),
  z.strictObject({ provider: z.enum(PROVIDER_IDS), upstreamModel: z.string().check(z.minLength(1)) }),
);
export type ModelRoutes = z.infer<typeof ModelRoutes>;

/** Where a model's requests go; undefined when the deployment gives it no upstream. */
export const findModelRoute = (modelId: string): ModelRoute | undefined => {
  const routes = ModelRoutes.parse(JSON.parse(requiredEnv('MODEL_ROUTES')));
  return Object.hasOwn(routes, modelId) ? routes[modelId] : undefined;
};

/**
 * Why a model cannot be dispatched now, for an operator; undefined when it can: it has an upstream whose
 * credential is there, the operator has not switched it off, and it has a rate.
 */
export const dispatchProblem = (
  model: CatalogModel,
  settings: ModelSettings | undefined,
  credentials: ReadonlySet<ProviderId>,
): string | undefined => {
  const route = findModelRoute(model.id);
  if (!route) return 'no upstream model is configured';
  if (!credentials.has(route.provider)) return `no credential for ${route.provider}`;
  if (settings?.enabled === false) return 'switched off by the operator';
  if (!rateOf(model.id, settings)) return 'no rate';
  return undefined;
};
