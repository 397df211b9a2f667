import { BUDGET_BODY, toBudget } from '../../core/end-users/budget-body.ts';
import { putEndUserBudget, renderBudget } from '../../core/ledger/end-user-budgets.ts';
import { apiHandler, json } from '../http/api-handler.ts';
import { checkAll } from '../http/api-request.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';

/** PUT /v1/end-users/{email}/budget. 200 with the budget and what is spent of it; 400, 404, 503. */
export const handler = apiHandler(async (request) => {
  const { accountId } = await authorize(identifyCaller(request), 'end-users:write', request.now);
  const [limits, email] = checkAll(
    () => request.body(BUDGET_BODY),
    () => request.emailParameter(),
    () => request.query({}),
  );
  const id = { accountId, email };
  return json(200, renderBudget(id, await putEndUserBudget(id, toBudget(limits), request.now)));
});
