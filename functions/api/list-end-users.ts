import * as z from 'zod/mini';
import { MAX_EMAIL_LENGTH } from '../../core/end-users/email-rules.ts';
import { listEndUsers } from '../../core/end-users/end-user-lists.ts';
import { renderEndUser } from '../../core/end-users/end-users.ts';
import { mapPage } from '../../core/table/pages.ts';
import { apiHandler } from '../http/api-handler.ts';
import { PAGE_QUERY } from '../http/api-request.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { json } from '../http/responses.ts';

const QUERY = {
  ...PAGE_QUERY,
  blocked: z.optional(
    z.pipe(
      z.enum(['true', 'false'], { error: 'must be true or false' }),
      z.transform((value: 'true' | 'false') => value === 'true'),
    ),
  ),
  email: z.optional(
    z
      .string()
      .check(z.maxLength(MAX_EMAIL_LENGTH, { error: `must be at most ${MAX_EMAIL_LENGTH} characters` })),
  ),
};

/** GET /v1/end-users. 200 with a page of the caller's end-users, newest first. */
export const handler = apiHandler(async (request) => {
  const { accountId } = await authorize(identifyCaller(request), 'end-users:read', request.now);
  const { page, pageSize, ...filter } = request.query(QUERY);
  const endUsers = await listEndUsers(accountId, filter, { page, pageSize });
  return json(200, mapPage(endUsers, renderEndUser));
});
