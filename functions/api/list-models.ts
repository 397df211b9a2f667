import { publishesRates } from '../../core/environment.ts';
import { routesOf } from '../../core/provider-calls/model-routes.ts';
import { inputsOf } from '../../core/uploads/upload-rules.ts';
import { apiHandler, json } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { listOffered } from '../http/offered-models.ts';
import { MODELS_QUERY } from '../http/queries.ts';

/**
 * GET /v1/models. 200 with the models that can be dispatched now, in the catalog's order; with the caller's rates where these are published, with
 * an announced end, and with `include=inputs` with the limits on files.
 */
export const handler = apiHandler(async (request) => {
  const account = await authorize(identifyCaller(request), 'models:read', request.now);
  const { include } = request.query(MODELS_QUERY);
  const offered = await listOffered(account, request.now);
  return json(200, {
    data: offered.map(({ model, rate, retirement }) => ({
      ...model,
      ...(include && { inputs: inputsOf(model, routesOf(model.id)) }),
      ...(publishesRates() && { rate }),
      ...(retirement && { retiresAt: retirement.retiresAt, replacedBy: retirement.replacedBy }),
    })),
  });
});
