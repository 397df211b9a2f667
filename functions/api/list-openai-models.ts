import { apiHandler, json } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { openAiErrorResponse } from '../openai/errors.ts';
import { listModelNames, renderModel } from '../openai/models.ts';

/** GET /openai/v1/models. 200 with the models that can be dispatched now, those of videos and aliases too. */
export const handler = apiHandler(async (request) => {
  const account = await authorize(identifyCaller(request), 'models:read', request.now);
  const names = await listModelNames(account, request.now);
  return json(200, { object: 'list', data: names.map(({ name }) => renderModel(name)) });
}, openAiErrorResponse);
