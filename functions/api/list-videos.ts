import { apiHandler } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { requestList } from '../http/request-list.ts';

/** GET /v1/videos. 200 with a page of the caller's video requests, newest first. */
export const handler = apiHandler(async (request) => {
  const { accountId } = await authorize(identifyCaller(request), 'generations:read', request.now);
  return requestList(request, 'video', accountId);
});
