import { loadUrlSigner } from '../../core/files/signed-urls.ts';
import { findRequest } from '../../core/requests/requests.ts';
import { apiHandler } from '../http/api-handler.ts';
import type { ApiRequest } from '../http/api-request.ts';
import { authorize, authorizedFirst, identifyCaller } from '../http/authorize.ts';
import { recordResponse, requestIdParameter, visibleRequest } from '../http/record-read.ts';

const load = async (request: ApiRequest) => {
  const requestId = requestIdParameter(request, 'image');
  return Promise.all([requestId === undefined ? undefined : findRequest(requestId), loadUrlSigner()]);
};

/** GET /v1/generations/{requestId}. 200 with the record; 404 unless it is an image request of the caller's. */
export const handler = apiHandler(async (request) => {
  const [account, [found, signUrl]] = await authorizedFirst(
    authorize(identifyCaller(request), 'generations:read', request.now),
    load(request),
  );
  return recordResponse(request, visibleRequest(found, 'image', account, request.now), signUrl);
});
