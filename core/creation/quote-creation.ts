import type { Account } from '../accounts/accounts.ts';
import { type BudgetOwner, endOfPeriod, limitsAt, type Spending } from '../budgets/budget-rules.ts';
import { readSpending } from '../budgets/spending.ts';
import { PaymentRequiredError } from '../errors.ts';
import { toXTokens } from '../money.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import type { Instant } from '../time.ts';
import { budgetOwners } from './budget-owners.ts';
import { screenPrompt } from './content-filter.ts';
import type { CreationFacts } from './judge-creation.ts';
import { inputsToMeasure, type Measuring, measureCreation } from './measured-creation.ts';
import { pricedRequest } from './priced-request.ts';
import type { QuoteAnswer } from './quote-answers.ts';
import type { Submission } from './submission.ts';

/**
 * What a creation would cost, and whether it would be covered. Judges in the order of a creation, and writes no more than a
 * refused creation. These writes are slots and allowances of content filter and measuring, and copies of clips, which are
 * removed. A balance that does not suffice is an answer, but for inputs to measure a refusal: `PaymentRequiredError`, before any
 * file is fetched. Otherwise throws the errors of a creation.
 */
export const quoteCreation = async (
  account: Account,
  submission: Submission,
  facts: CreationFacts,
  measuring?: Measuring,
): Promise<QuoteAnswer> => {
  const priced = pricedRequest(account, submission, facts);
  const { debitThousandths: price, createdAt } = priced;
  const { accountId, balanceThousandths: balance, ledgerEntries } = account;
  const { now, keyId } = submission;
  if (price > balance && inputsToMeasure(priced).length > 0)
    throw new PaymentRequiredError(price, balance, ledgerEntries);
  if (price <= balance) await screenPrompt(account, priced.prompt);
  const judged = { request: priced, account, now };
  const { request, discardCopies } = await measureCreation(judged, facts, { measuring });
  await discardCopies();
  const owners = budgetOwners(request, account, facts.endUser, keyId);
  const budgets = await Promise.all(
    owners.map(async (owner) =>
      quotedBudgets(owner, createdAt, await readSpending(accountId, owner.id, createdAt)),
    ),
  );
  return quoteOf(request, balance, budgets.flat());
};

const quotedBudgets = (
  { kind, budget }: BudgetOwner,
  at: Instant,
  { dayThousandths, monthThousandths }: Spending,
): QuoteAnswer['budgets'] =>
  limitsAt(budget, at).flatMap(({ period, limit }, index) => {
    if (limit === undefined) return [];
    const isDay = index === 0;
    const of = kind === 'end-user' ? ('endUser' as const) : ('apiKey' as const);
    const spent = toXTokens(isDay ? dayThousandths : monthThousandths);
    const per = isDay ? ('day' as const) : ('month' as const);
    return [{ of, per, limit: toXTokens(limit), spent, renewsAt: endOfPeriod(period) }];
  });

/** A sum in whole thousandths: amounts of xTokens are no exact binary fractions. */
const sumOf = (one: number, other: number): number => Math.round((one + other) * 1_000) / 1_000;

const quoteOf = (
  { debitThousandths }: StoredRequest,
  balanceThousandths: number,
  budgets: QuoteAnswer['budgets'],
): QuoteAnswer => {
  const xTokens = toXTokens(debitThousandths);
  const fits = budgets.every(({ limit, spent }) => sumOf(spent, xTokens) <= limit);
  const covered = debitThousandths <= balanceThousandths && fits;
  return { xTokens, balance: toXTokens(balanceThousandths), covered, budgets };
};
