import { type Account, keyBudgetOf } from '../accounts/accounts.ts';
import type { BudgetOwner } from '../budgets/budget-rules.ts';
import { type EndUser, endUserIdOf } from '../end-users/end-users.ts';
import type { StoredRequest } from '../requests/request-rules.ts';

/** The budget owners for the debit of a request: the end-user and the API key, each only with a budget. */
export const budgetOwners = (
  request: StoredRequest,
  account: Pick<Account, 'keyBudgets'>,
  endUser: EndUser | undefined,
  keyId: string,
): BudgetOwner[] => {
  const ofKey = keyBudgetOf(account, keyId);
  return [
    ...(endUser?.budget
      ? [{ id: endUserIdOf(request, endUser), kind: 'end-user' as const, budget: endUser.budget }]
      : []),
    ...(ofKey ? [{ id: keyId, kind: 'API key' as const, budget: ofKey }] : []),
  ];
};
