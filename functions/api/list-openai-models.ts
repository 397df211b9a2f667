import { apiHandler, json } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { listOffered } from '../http/offered-models.ts';
import { openAiErrorResponse } from '../openai/errors.ts';
import { renderModel } from '../openai/models.ts';

/** GET /openai/v1/models. 200 with the models that can be dispatched now, those of videos too. */
export const handler = apiHandler(async (request) => {
  const account = await authorize(identifyCaller(request), 'models:read', request.now);
  request.query({});
  const offered = await listOffered(account, request.now);
  return json(200, { object: 'list', data: offered.map(({ model }) => renderModel(model.id)) });
}, openAiErrorResponse);
