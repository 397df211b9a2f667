import { bugs } from '../mutant.ts';

/** Bugs in what end-users and keys may spend. */
export const BUDGETS = bugs('budgets', [
  [
    'a budget of a month counts in the day',
    'core/budgets/budget-rules.ts',
    '{ period: month, limit: perMonthThousandths }',
    '{ period: day, limit: perMonthThousandths }',
  ],
  [
    'a creation may go beyond a budget by its price',
    'core/budgets/spending.ts',
    'const most = limit - debit;',
    'const most = limit;',
  ],
  [
    'a refund is not given back to a budget',
    'core/budgets/spending.ts',
    'addWrite({ accountId, ownerId, period }, -refund)',
    'addWrite({ accountId, ownerId, period }, 0)',
  ],
  [
    'a budget of a month renews before the month ends',
    'core/budgets/budget-rules.ts',
    'const DAYS_OF_LONGEST_MONTH = 31;',
    'const DAYS_OF_LONGEST_MONTH = 28;',
  ],
]);
