import { BUDGET_BODY, type BudgetLimits, toBudget } from '../../core/end-users/budget-body.ts';
import { ValidationError } from '../../core/errors.ts';
import { parseFields } from '../../core/fields.ts';
import { putEndUserBudget, renderBudget } from '../../core/ledger/end-user-budgets.ts';
import { apiHandler } from '../http/api-handler.ts';
import type { ApiRequest } from '../http/api-request.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { checkAll } from '../http/check-all.ts';
import { json } from '../http/responses.ts';

/** The limits of the body. Throws `ValidationError`. */
const readLimits = (request: ApiRequest): BudgetLimits => {
  const read = request.readBody();
  if (!read.ok) throw read.error;
  const { values, fields } = parseFields(BUDGET_BODY, read.body);
  if (Object.keys(fields).length > 0) throw new ValidationError(fields);
  const { perDay = null, perMonth = null } = values;
  return { perDay, perMonth };
};

/** PUT /v1/end-users/{email}/budget. 200 with the budget and what is spent of it; 400, 404, 503. */
export const handler = apiHandler(async (request) => {
  const { accountId } = await authorize(identifyCaller(request), 'end-users:write', request.now);
  let email = '';
  const limits = checkAll(
    () => readLimits(request),
    () => {
      email = request.emailParameter();
    },
    () => request.query({}),
  );
  const id = { accountId, email };
  return json(200, renderBudget(id, await putEndUserBudget(id, toBudget(limits), request.now)));
});
