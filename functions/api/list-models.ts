import { publishesRates } from '../../core/environment.ts';
import { apiHandler, json } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { listOffered } from '../http/offered-models.ts';

/** GET /v1/models. 200 with the models that can be dispatched now, in the catalog's order; with the caller's rates where these are published. */
export const handler = apiHandler(async (request) => {
  const account = await authorize(identifyCaller(request), 'models:read', request.now);
  request.query({});
  const offered = await listOffered(account, request.now);
  return json(200, {
    data: offered.map(({ model, rate }) => (publishesRates() ? { ...model, rate } : model)),
  });
});
