import { requiredEnv } from '../../core/environment.ts';
import { loadUrlSigner } from '../../core/files/signed-urls.ts';
import { readable } from '../../core/readable.ts';
import { renderRecord } from '../../core/requests/render-record.ts';
import { listImageRequests } from '../../core/requests/request-lists.ts';
import { apiHandler } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { GENERATIONS_QUERY } from '../http/queries.ts';
import { json } from '../http/responses.ts';

/** GET /v1/generations. 200 with a page of the caller's image requests, newest first. */
export const handler = apiHandler(async (request) => {
  const { accountId } = await authorize(identifyCaller(request), 'generations:read', request.now);
  const { page, pageSize, ...filter } = request.query(GENERATIONS_QUERY);
  const [found, signUrl] = await Promise.all([
    listImageRequests(accountId, filter, { page, pageSize }, request.now),
    loadUrlSigner(),
  ]);
  const context = { now: request.now, publicBaseUrl: requiredEnv('PUBLIC_BASE_URL'), signUrl };
  const items = readable(
    found.items,
    (stored) => renderRecord(stored, context),
    ({ requestId }) => requestId,
  );
  return json(200, { ...found, items });
});
