import { loadUrlSigner } from '../../core/files/signed-urls.ts';
import { findProviderWait } from '../../core/provider-calls/provider-waits.ts';
import { findRequest } from '../../core/requests/requests.ts';
import { catchUpOnRead } from '../../core/waiting/catch-up.ts';
import { providerRouteOf } from '../../providers/registry.ts';
import { apiHandler } from '../http/api-handler.ts';
import type { ApiRequest } from '../http/api-request.ts';
import { authorize, authorizedFirst, identifyCaller } from '../http/authorize.ts';
import { recordResponse, requestIdParameter, visibleRequest } from '../http/record-read.ts';

const load = async (request: ApiRequest) => {
  const requestId = requestIdParameter(request, 'video');
  return Promise.all([
    requestId === undefined ? undefined : findRequest(requestId),
    requestId === undefined ? undefined : findProviderWait(requestId),
    loadUrlSigner(),
  ]);
};

/**
 * GET /v1/videos/{requestId}. 200 with the record; 404 unless it is a video request of the caller's. Reading an
 * unfinished one also queries the provider, at most once in 10 s.
 */
export const handler = apiHandler(async (request) => {
  const [account, [found, wait, signUrl]] = await authorizedFirst(
    authorize(identifyCaller(request), 'generations:read', request.now),
    load(request),
  );
  const stored = visibleRequest(found, 'video', account, request.now);
  await catchUpOnRead(stored, wait, providerRouteOf);
  return recordResponse(request, stored, signUrl);
});
