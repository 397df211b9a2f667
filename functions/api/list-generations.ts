import * as z from 'zod/mini';
import { optionalEmail } from '../../core/end-users/email-rules.ts';
import { requiredEnv } from '../../core/environment.ts';
import { loadUrlSigner } from '../../core/files/signed-urls.ts';
import { renderRecord } from '../../core/requests/render-record.ts';
import { listImageRequests } from '../../core/requests/request-lists.ts';
import { RECORD_STATUSES } from '../../core/requests/request-rules.ts';
import { mapPage } from '../../core/table/pages.ts';
import { parseIso8601 } from '../../core/time.ts';
import { apiHandler } from '../http/api-handler.ts';
import { PAGE_QUERY } from '../http/api-request.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { json } from '../http/responses.ts';

const QUERY = {
  ...PAGE_QUERY,
  endUserEmail: optionalEmail(),
  status: z.optional(z.enum(RECORD_STATUSES, { error: `must be one of ${RECORD_STATUSES.join(', ')}` })),
  createdAfter: z.optional(
    z.pipe(
      z.string().check(
        z.refine((text) => parseIso8601(text) !== undefined, {
          error: 'must be an ISO 8601 date, or date-time with a time zone',
        }),
      ),
      z.transform(parseIso8601),
    ),
  ),
};

/** GET /v1/generations. 200 with a page of the caller's image requests, newest first. */
export const handler = apiHandler(async (request) => {
  const { accountId } = await authorize(identifyCaller(request), 'generations:read', request.now);
  const { page, pageSize, ...filter } = request.query(QUERY);
  const [found, signUrl] = await Promise.all([
    listImageRequests(accountId, filter, { page, pageSize }, request.now),
    loadUrlSigner(),
  ]);
  const context = { now: request.now, publicBaseUrl: requiredEnv('PUBLIC_BASE_URL'), signUrl };
  return json(
    200,
    mapPage(found, (stored) => renderRecord(stored, context)),
  );
});
