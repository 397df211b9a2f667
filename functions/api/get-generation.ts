import { loadUrlSigner } from '../../core/delivery.ts';
import { requiredEnv } from '../../core/environment.ts';
import { NotFoundError } from '../../core/errors.ts';
import { requestKindOf } from '../../core/ids.ts';
import { isRemoved, renderGeneration } from '../../core/records.ts';
import { findRequest } from '../../core/requests.ts';
import { apiHandler } from '../http/api-handler.ts';
import { authorize } from '../http/authorize.ts';
import { json } from '../http/responses.ts';

/** GET /v1/generations/{requestId}. 200 with the record; 404 for what is not an image request of the caller's. */
export const handler = apiHandler(async (request) => {
  const { account, loaded } = await authorize(request, 'generations:read', async () => {
    request.query({});
    const requestId = request.pathParameter('requestId');
    const isImage = requestKindOf(requestId) === 'image';
    return Promise.all([isImage ? findRequest(requestId) : undefined, loadUrlSigner()]);
  });
  const [found, signUrl] = loaded;
  if (found?.accountId !== account.accountId || isRemoved(found, request.now)) {
    throw new NotFoundError('There is no such generation.');
  }
  const publicBaseUrl = requiredEnv('PUBLIC_BASE_URL');
  return json(200, renderGeneration(found, { now: request.now, publicBaseUrl, signUrl }));
});
