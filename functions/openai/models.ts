import { CATALOG, type CatalogModel } from '../../core/models/catalog.ts';
import { currentModelSettings } from '../../core/models/model-settings.ts';
import { listCredentials } from '../../core/provider-calls/credentials.ts';
import { dispatchProblem } from '../../core/provider-calls/model-routes.ts';

/** The models that can be dispatched now, in the catalog's order. */
export const listDispatchable = async (now: Date): Promise<CatalogModel[]> => {
  const [settings, credentials] = await Promise.all([currentModelSettings(now), listCredentials(now)]);
  return CATALOG.filter((model) => !dispatchProblem(model, settings.get(model.id), credentials));
};

/** A model as OpenAI's clients read it. The catalog knows no date of a model. */
export const renderModel = ({ id }: CatalogModel) => ({
  id,
  object: 'model',
  created: 0,
  owned_by: 'generation-service',
});
