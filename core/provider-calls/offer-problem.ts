import type { CatalogModel } from '../models/catalog.ts';
import { leftRoutesIn, type ModelSettings } from '../models/model-settings.ts';
import { retiredProblem } from '../models/retirement.ts';
import type { ProviderId } from '../provider-names.ts';
import { dispatchProblem } from './model-routes.ts';

/**
 * Why a model takes no creation now, in words for an operator: the model was retired, or cannot be dispatched. `settings` are
 * those of all models.
 */
export const offerProblem = (
  model: CatalogModel,
  settings: ReadonlyMap<string, ModelSettings>,
  credentials: ReadonlySet<ProviderId>,
  now: Date,
): string | undefined =>
  retiredProblem(model.id, settings, now) ??
  dispatchProblem(model, settings.get(model.id), credentials, leftRoutesIn(settings));
