import { getEndUserBudget, renderBudget } from '../../core/ledger/end-user-budgets.ts';
import { apiHandler, json } from '../http/api-handler.ts';
import { checkAll } from '../http/api-request.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';

/** GET /v1/end-users/{email}/budget. 200 with the budget and what is spent of it; 404. */
export const handler = apiHandler(async (request) => {
  const { accountId } = await authorize(identifyCaller(request), 'end-users:read', request.now);
  const [email] = checkAll(
    () => request.emailParameter(),
    () => request.query({}),
  );
  const id = { accountId, email };
  return json(200, renderBudget(id, await getEndUserBudget(id, request.now)));
});
