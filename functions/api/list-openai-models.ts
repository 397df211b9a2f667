import { apiHandler, json } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { openAiErrorResponse } from '../openai/errors.ts';
import { listDispatchable, renderModel } from '../openai/models.ts';

/** GET /openai/v1/models. 200 with the models that can be dispatched now, those of videos too. */
export const handler = apiHandler(async (request) => {
  await authorize(identifyCaller(request), 'models:read', request.now);
  request.query({});
  const models = await listDispatchable(request.now);
  return json(200, { object: 'list', data: models.map(renderModel) });
}, openAiErrorResponse);
