import { apiHandler, json } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { NoSuchModelError, openAiErrorResponse } from '../openai/errors.ts';
import { listModelNames, renderModel } from '../openai/models.ts';

/** GET /openai/v1/models/{model}. 200 with the model; 404 unless it can be dispatched now. */
export const handler = apiHandler(async (request) => {
  const account = await authorize(identifyCaller(request), 'models:read', request.now);
  const id = request.pathParameter('model');
  const names = (await listModelNames(account, request.now)).map(({ name }) => name);
  if (!names.includes(id)) throw new NoSuchModelError(id, names);
  return json(200, renderModel(id));
}, openAiErrorResponse);
