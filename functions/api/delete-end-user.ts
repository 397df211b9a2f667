import { deleteEndUser } from '../../core/deletion/delete-end-user.ts';
import type { DeletedEndUserAnswer } from '../../core/end-users/end-user-answers.ts';
import { apiHandler, json } from '../http/api-handler.ts';
import { checkAll } from '../http/api-request.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';

/**
 * DELETE /v1/end-users/{email}. 200 with the numbers of removed requests and files; 404; 409 while requests
 * are unfinished; 503 if one call cannot finish: repeat it to continue.
 */
export const handler = apiHandler(async (request) => {
  const account = await authorize(identifyCaller(request), 'end-users:write', request.now);
  const [email] = checkAll(
    () => request.emailParameter(),
    () => request.query({}),
  );
  const removal = await deleteEndUser({ accountId: account.accountId, email });
  return json(200, { email, deleted: true, ...removal } satisfies DeletedEndUserAnswer);
});
