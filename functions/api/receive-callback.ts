import { receiveCallback } from '../../core/waiting/receive-callback.ts';
import { checkCallback } from '../../providers/callback-checks.ts';
import { providerRouteOf } from '../../providers/registry.ts';
import { apiHandler, json } from '../http/api-handler.ts';

/**
 * POST /callbacks/{provider}/{requestId}/{token}: outside `/v1`, without an API key. 200 when accepted; 404 for
 * an unknown token or a wrong signature; 503 when the provider should call again. The body is read for its signature alone.
 */
export const handler = apiHandler(async (request) => {
  const provider = request.pathParameter('provider');
  const sent = { header: (name: string) => request.header(name), body: request.rawBody() };
  const callback = {
    provider,
    requestId: request.pathParameter('requestId'),
    token: request.pathParameter('token'),
    check: (now: Date) => checkCallback(provider, sent, now),
  };
  await receiveCallback(callback, providerRouteOf);
  return json(200, {});
});
