import type { EndUserBlock } from '../../core/end-users/end-user-answers.ts';
import { unblockEndUser } from '../../core/end-users/end-users.ts';
import { apiHandler, json } from '../http/api-handler.ts';
import { checkAll } from '../http/api-request.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';

/** POST /v1/end-users/{email}/unblock. 200 with `blockedAt`; 404. */
export const handler = apiHandler(async (request) => {
  const account = await authorize(identifyCaller(request), 'end-users:write', request.now);
  const [email] = checkAll(
    () => request.emailParameter(),
    () => request.query({}),
  );
  const { blockedAt = null } = await unblockEndUser({ accountId: account.accountId, email });
  return json(200, { email, blockedAt } satisfies EndUserBlock);
});
