import { publishesRates } from '../../core/environment.ts';
import { CATALOG } from '../../core/models/catalog.ts';
import { currentModelSettings } from '../../core/models/model-settings.ts';
import { rateOf } from '../../core/models/rates.ts';
import { listCredentials } from '../../core/provider-calls/credentials.ts';
import { dispatchProblem } from '../../core/provider-calls/model-routes.ts';
import { apiHandler } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { json } from '../http/responses.ts';

/** GET /v1/models. 200 with the models that can be dispatched now, in the catalog's order; with their rates where these are published. */
export const handler = apiHandler(async (request) => {
  await authorize(identifyCaller(request), 'models:read', request.now);
  request.query({});
  const [settings, credentials] = await Promise.all([
    currentModelSettings(request.now),
    listCredentials(request.now),
  ]);
  const models = CATALOG.filter((model) => !dispatchProblem(model, settings.get(model.id), credentials));
  const data = publishesRates()
    ? models.map((model) => ({ ...model, rate: rateOf(model.id, settings.get(model.id)) }))
    : models;
  return json(200, { data });
});
