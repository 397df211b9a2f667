import type { Budget, Spending } from '../budgets/budget-rules.ts';
import { periodsOf } from '../budgets/budget-rules.ts';
import { beginSpendingWrites, readSpending } from '../budgets/spending.ts';
import type { EndUserBudget } from '../end-users/end-user-answers.ts';
import { type EndUser, type EndUserId, getEndUser } from '../end-users/end-users.ts';
import { ServiceError } from '../errors.ts';
import { type Thousandths, toXTokens } from '../money.ts';
import { listRequestIdsOfAccount } from '../requests/account-requests.ts';
import { endUserKey } from '../table/keys.ts';
import { tableName } from '../table/table.ts';
import { type TransactItem, transact } from '../table/transactions.ts';
import { type Instant, later, toInstant } from '../time.ts';
import { largeRead } from './large-reads.ts';
import { listLedgerEntries } from './ledger.ts';
import { findUsageOfRequests } from './request-fates.ts';

/** An end-user's budget, and what they spent today and this month. */
interface BudgetState {
  budget: Budget | undefined;
  spending: Spending;
}

/** A budget as the API shows it. */
export const renderBudget = ({ email }: EndUserId, { budget, spending }: BudgetState): EndUserBudget => ({
  email,
  perDay: shownLimit(budget?.perDayThousandths),
  perMonth: shownLimit(budget?.perMonthThousandths),
  spentToday: toXTokens(spending.dayThousandths),
  spentThisMonth: toXTokens(spending.monthThousandths),
});

const shownLimit = (limit: Thousandths | undefined): number | null =>
  limit === undefined ? null : toXTokens(limit);

/**
 * The budget of an end-user, and what they spent today and this month. Throws `NotFoundError`. Without a budget it is added up of the month's
 * requests; of more than 1,000 as a `largeRead`, with its error.
 */
export const getEndUserBudget = async (id: EndUserId, now: Date): Promise<BudgetState> => {
  const endUser = await getEndUser(id);
  return { budget: endUser.budget, spending: await spendingOf(endUser, now) };
};

/** Requests that are read at once: some 12 calls of the table. More are a large read. */
const REQUESTS_AT_ONCE = 1_000;

/** The newest entries of a ledger, which are consistent: the index of requests can be seconds behind. */
const NEWEST_ENTRIES = { page: 1, pageSize: 500 };

/**
 * As counted for their budget, else from their requests of the month that are there: those in the index, and those that the ledger's newest
 * entries name.
 */
const spendingOf = async (endUser: EndUser, now: Date): Promise<Spending> => {
  const at = toInstant(now);
  const { accountId, email: endUserEmail, endUserId } = endUser;
  if (endUser.budget) return readSpending(accountId, endUserId, at);
  const ids = new Set<string>();
  const ofMonth = { endUserEmail, createdFrom: toInstant(new Date(periodsOf(at).month)) };
  for await (const requestId of listRequestIdsOfAccount(accountId, ofMonth)) ids.add(requestId);
  const { items: newest } = await listLedgerEntries(accountId, NEWEST_ENTRIES, 0);
  for (const entry of newest) if (entry.endUserId === endUserId) ids.add(entry.reference);
  const add = () => addedUp(endUser, [...ids], at);
  return ids.size <= REQUESTS_AT_ONCE ? add() : largeRead(accountId, add);
};

/** What these requests cost less refunds, as far as they are the end-user's and of the day or the month of `at`. */
const addedUp = async (
  { accountId, endUserId }: EndUser,
  requestIds: readonly string[],
  at: Instant,
): Promise<Spending> => {
  const { day, month } = periodsOf(at);
  const sums = { dayThousandths: 0, monthThousandths: 0 };
  for (let start = 0; start < requestIds.length; start += REQUESTS_AT_ONCE) {
    const read = await findUsageOfRequests(accountId, requestIds.slice(start, start + REQUESTS_AT_ONCE));
    for (const { createdAt, debitThousandths, refundThousandths = 0, ...request } of read.values()) {
      if (request.endUserId !== endUserId) continue;
      const net = debitThousandths - refundThousandths;
      if (createdAt.startsWith(day)) sums.dayThousandths += net;
      if (createdAt.startsWith(month)) sums.monthThousandths += net;
    }
  }
  return sums;
};

/** How often a budget is begun anew because the end-user's requests were created or ended meanwhile. */
const MAX_ATTEMPTS = 5;

/**
 * Access pattern 126: sets what an end-user may spend; undefined: any amount. The first budget begins the counts with their spending so far,
 * in one transaction. A change of that spending refuses it. Throws the errors of `getEndUserBudget`, and `ServiceError` with
 * `temporarily_unavailable` when it changes all the time.
 */
export const putEndUserBudget = async (
  id: EndUserId,
  budget: Budget | undefined,
  now: Date,
): Promise<BudgetState> => {
  let attempts = 0;
  let spending: Spending = { dayThousandths: 0, monthThousandths: 0 };
  await transact(async (): Promise<TransactItem[]> => {
    if (attempts++ === MAX_ATTEMPTS) {
      const message = 'The end-user creates requests all the time: repeat the call.';
      throw new ServiceError('temporarily_unavailable', message, { retryAfterSeconds: 1 });
    }
    const endUser = await getEndUser(id);
    spending = await spendingOf(endUser, now);
    if (!budget) return endUser.budget ? [removeWrite(endUser)] : [];
    if (endUser.budget) return [changeWrite(endUser, budget)];
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
