import { deleteEndUser } from '../../core/deletion/delete-end-user.ts';
import { apiHandler } from '../http/api-handler.ts';
import { authorize } from '../http/authorize.ts';
import { checkAll } from '../http/check-all.ts';
import { json } from '../http/responses.ts';

/** DELETE /v1/end-users/{email}. 200 with what went along; 404, 409 while work is under way, 503 to go on. */
export const handler = apiHandler(async (request) => {
  const { account, loaded: email } = await authorize(request, 'end-users:write', async () => {
    return checkAll(
      () => request.emailParameter(),
      () => request.query({}),
    );
  });
  const removal = await deleteEndUser({ accountId: account.accountId, email });
  return json(200, { email, deleted: true, ...removal });
});
