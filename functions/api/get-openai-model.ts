import { apiHandler, json } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { listOffered } from '../http/offered-models.ts';
import { NoSuchModelError, openAiErrorResponse } from '../openai/errors.ts';
import { renderModel } from '../openai/models.ts';

/** GET /openai/v1/models/{model}. 200 with the model; 404 unless it can be dispatched now. */
export const handler = apiHandler(async (request) => {
  const account = await authorize(identifyCaller(request), 'models:read', request.now);
  request.query({});
  const id = request.pathParameter('model');
  const offered = await listOffered(account, request.now);
  if (!offered.some(({ model }) => model.id === id)) throw new NoSuchModelError(id);
  return json(200, renderModel(id));
}, openAiErrorResponse);
