import { publishesRates } from '../../core/environment.ts';
import { CATALOG } from '../../core/models/catalog.ts';
import { currentModelSettings } from '../../core/models/model-settings.ts';
import { accountRateOf } from '../../core/models/rates.ts';
import { listCredentials } from '../../core/provider-calls/credentials.ts';
import { dispatchProblem } from '../../core/provider-calls/model-routes.ts';
import { apiHandler, json } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';

/** GET /v1/models. 200 with the models that can be dispatched now, in the catalog's order; with the caller's rates where these are published. */
export const handler = apiHandler(async (request) => {
  const account = await authorize(identifyCaller(request), 'models:read', request.now);
  request.query({});
  const [settings, credentials] = await Promise.all([
    currentModelSettings(request.now),
    listCredentials(request.now),
  ]);
  const data = CATALOG.flatMap((model) => {
    const own = settings.get(model.id);
    const rate = accountRateOf(model.id, own, account);
    if (!rate || dispatchProblem(model, own, credentials)) return [];
    return publishesRates() ? { ...model, rate } : model;
  });
  return json(200, { data });
});
