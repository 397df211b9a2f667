import { listEndUsers } from '../../core/end-users/end-user-lists.ts';
import { renderEndUser } from '../../core/end-users/end-users.ts';
import { mapPage } from '../../core/table/pages.ts';
import { apiHandler, json } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { END_USERS_QUERY } from '../http/queries.ts';

/** GET /v1/end-users. 200 with a page of the caller's end-users, newest first. */
export const handler = apiHandler(async (request) => {
  const { accountId } = await authorize(identifyCaller(request), 'end-users:read', request.now);
  const { page, pageSize, ...filter } = request.query(END_USERS_QUERY);
  const endUsers = await listEndUsers(accountId, filter, { page, pageSize });
  return json(200, mapPage(endUsers, renderEndUser));
});
