import { receiveCallback } from '../../core/waiting/receive-callback.ts';
import { providerRouteOf } from '../../providers/registry.ts';
import { apiHandler } from '../http/api-handler.ts';
import { json } from '../http/responses.ts';

/**
 * POST /callbacks/{provider}/{requestId}/{token}: outside `/v1`, without an API key. 200 when accepted; 404 for
 * an unknown token; 503 when the provider should call again. Does not read the body.
 */
export const handler = apiHandler(async (request) => {
  const callback = {
    provider: request.pathParameter('provider'),
    requestId: request.pathParameter('requestId'),
    token: request.pathParameter('token'),
  };
  await receiveCallback(callback, providerRouteOf);
  return json(200, {});
});
