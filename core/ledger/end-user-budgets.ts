import type { Budget, Spending } from '../budgets/budget-rules.ts';
import { periodsOf } from '../budgets/budget-rules.ts';
import { beginSpendingWrites, readSpending } from '../budgets/spending.ts';
import type { EndUserBudget } from '../end-users/end-user-answers.ts';
import { type EndUser, type EndUserId, getEndUser } from '../end-users/end-users.ts';
import { ServiceError } from '../errors.ts';
import { type Thousandths, toXTokens } from '../money.ts';
import { listRequestIdsOfAccount } from '../requests/account-requests.ts';
import { findRequests } from '../requests/requests.ts';
import { endUserKey } from '../table/keys.ts';
import { tableName } from '../table/table.ts';
import { type TransactItem, transact } from '../table/transactions.ts';
import { later, toInstant } from '../time.ts';
import { listLedgerEntries } from './ledger.ts';

/** An end-user's budget and what they spent of it. Without a budget, spending by very many requests is not added up: undefined. */
interface BudgetState {
  budget: Budget | undefined;
  spending: Spending | undefined;
}

/** A budget as the API shows it. */
export const renderBudget = ({ email }: EndUserId, { budget, spending }: BudgetState): EndUserBudget => ({
  email,
  perDay: shownAmount(budget?.perDayThousandths),
  perMonth: shownAmount(budget?.perMonthThousandths),
  spentToday: shownAmount(spending?.dayThousandths),
  spentThisMonth: shownAmount(spending?.monthThousandths),
});

const shownAmount = (amount: Thousandths | undefined): number | null =>
  amount === undefined ? null : toXTokens(amount);

/** The budget of an end-user, and what they spent today and this month. Throws `NotFoundError`. */
export const getEndUserBudget = async (id: EndUserId, now: Date): Promise<BudgetState> => {
  const endUser = await getEndUser(id);
  return { budget: endUser.budget, spending: await spendingOf(endUser, now, MAX_REQUESTS_ADDED) };
};

/** Requests of an end-user without a budget that a call adds up: some 12 calls of the table. */
const MAX_REQUESTS_ADDED = 1_000;

/** The newest entries of a ledger, which are consistent: the index of requests can be seconds behind. */
const NEWEST_ENTRIES = { page: 1, pageSize: 500 };

/**
 * As counted for their budget, else from their requests of the month that are there: those in the index, and those that the ledger's newest
 * entries name. Undefined when the index has more than `most` of them.
 */
const spendingOf = async (
  endUser: EndUser,
  now: Date,
  most = Number.POSITIVE_INFINITY,
): Promise<Spending | undefined> => {
  const at = toInstant(now);
  const { accountId, email: endUserEmail, endUserId } = endUser;
  if (endUser.budget) return readSpending(accountId, endUserId, at);
  const { day, month } = periodsOf(at);
  const ids = new Set<string>();
  const ofMonth = { endUserEmail, createdFrom: toInstant(new Date(month)) };
  for await (const requestId of listRequestIdsOfAccount(accountId, ofMonth)) {
    ids.add(requestId);
    if (ids.size > most) return undefined;
  }
  const { items: newest } = await listLedgerEntries(accountId, NEWEST_ENTRIES, 0);
  for (const entry of newest) if (entry.endUserId === endUserId) ids.add(entry.reference);
  const { requests } = await findRequests([...ids]);
  const own = requests.filter((request) => request.endUserId === endUserId);
  const spentIn = (period: string): Thousandths =>
    own
      .filter(({ createdAt }) => createdAt.startsWith(period))
      .reduce(
        (sum, { debitThousandths, refundThousandths = 0 }) => sum + debitThousandths - refundThousandths,
        0,
      );
  return { dayThousandths: spentIn(day), monthThousandths: spentIn(month) };
};

/** How often a budget is begun anew because the end-user's requests were created or ended meanwhile. */
const MAX_ATTEMPTS = 5;

/**
 * Access pattern 126: sets what an end-user may spend; undefined: any amount. The first budget begins the counts with their spending so far,
 * in one transaction. A change of that spending refuses it. Throws `NotFoundError`, and `ServiceError` with `temporarily_unavailable` when
 * it changes all the time.
 */
export const putEndUserBudget = async (
  id: EndUserId,
  budget: Budget | undefined,
  now: Date,
): Promise<BudgetState> => {
  let attempts = 0;
  let spending: Spending | undefined;
  await transact(async (): Promise<TransactItem[]> => {
    if (attempts++ === MAX_ATTEMPTS) {
      const message = 'The end-user creates requests all the time: repeat the call.';
      throw new ServiceError('temporarily_unavailable', message, { retryAfterSeconds: 1 });
    }
    const endUser = await getEndUser(id);
    // All that the first budget begins with; otherwise only what is told.
    const isFirst = budget !== undefined && endUser.budget === undefined;
    spending = await spendingOf(endUser, now, isFirst ? undefined : MAX_REQUESTS_ADDED);
    if (!budget) return endUser.budget ? [removeWrite(endUser)] : [];
    if (endUser.budget || !spending) return [changeWrite(endUser, budget)];
    const since = later(toInstant(now), endUser.lastActiveAt);
    const { accountId, endUserId } = endUser;
    return [
      firstWrite(endUser, budget, since),
      ...beginSpendingWrites(accountId, endUserId, spending, toInstant(now)),
    ];
  });
  return { budget, spending };
};

const removeWrite = ({ accountId, email, endUserId }: EndUser): TransactItem => ({
  Update: {
    TableName: tableName(),
    Key: endUserKey(accountId, email),
    UpdateExpression: 'REMOVE budget, budgetSince',
    ConditionExpression: 'endUserId = :id',
    ExpressionAttributeValues: { ':id': endUserId },
  },
});

const changeWrite = ({ accountId, email, endUserId }: EndUser, budget: Budget): TransactItem => ({
  Update: {
    TableName: tableName(),
    Key: endUserKey(accountId, email),
    UpdateExpression: 'SET budget = :budget',
    ConditionExpression: 'endUserId = :id AND attribute_exists(budget)',
    ExpressionAttributeValues: { ':id': endUserId, ':budget': budget },
  },
});

const firstWrite = (endUser: EndUser, budget: Budget, since: string): TransactItem => ({
  Update: {
    TableName: tableName(),
    Key: endUserKey(endUser.accountId, endUser.email),
    UpdateExpression: 'SET budget = :budget, budgetSince = :since',
    ConditionExpression:
      'endUserId = :id AND attribute_not_exists(budget) AND totalRequests = :requests AND spentThousandths = :spent',
    ExpressionAttributeValues: {
      ':id': endUser.endUserId,
      ':budget': budget,
      ':since': since,
      ':requests': endUser.totalRequests,
      ':spent': endUser.spentThousandths,
    },
  },
});
