import { apiHandler, json } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { NoSuchModelError, openAiErrorResponse } from '../openai/errors.ts';
import { listDispatchable, renderModel } from '../openai/models.ts';

/** GET /openai/v1/models/{model}. 200 with the model; 404 unless it can be dispatched now. */
export const handler = apiHandler(async (request) => {
  await authorize(identifyCaller(request), 'models:read', request.now);
  request.query({});
  const id = request.pathParameter('model');
  const model = (await listDispatchable(request.now)).find((one) => one.id === id);
  if (!model) throw new NoSuchModelError(id);
  return json(200, renderModel(model));
}, openAiErrorResponse);
