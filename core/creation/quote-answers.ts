import * as z from 'zod/mini';
import { described, instant, named, xTokens } from '../answers.ts';

const QuotedBudget = named(
  'QuotedBudget',
  'A budget that would count the request.',
  z.object({
    of: described(z.enum(['endUser', 'apiKey']), 'Whose budget it is.'),
    per: described(z.enum(['day', 'month']), 'A UTC day, or a calendar month in UTC.'),
    limit: xTokens('The most to spend.'),
    spent: described(z.number(), 'Spent so far, less refunds, in xTokens.'),
    renewsAt: instant('When the count begins anew.'),
  }),
);

/** The response of `POST /v1/quotes`. */
export const QuoteAnswer = named(
  'Quote',
  'What a creation would cost now.',
  z.object({
    xTokens: xTokens('The debit of the creation.'),
    balance: xTokens('The balance now.'),
    covered: described(z.boolean(), 'Whether the balance and each budget suffice now.'),
    budgets: described(z.array(QuotedBudget), 'Empty without a budget.'),
  }),
);
export type QuoteAnswer = z.infer<typeof QuoteAnswer>;
