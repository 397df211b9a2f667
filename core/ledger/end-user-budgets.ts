import { type Budget, periodsOf, type Spending, shownLimits } from '../budgets/budget-rules.ts';
import { beginSpendingWrites, readSpending } from '../budgets/spending.ts';
import type { EndUserBudget } from '../end-users/end-user-answers.ts';
import { type EndUser, type EndUserId, getEndUser } from '../end-users/end-users.ts';
import { ServiceError } from '../errors.ts';
import { type Thousandths, toXTokens } from '../money.ts';
import { listRequestIdsOfAccount } from '../requests/account-requests.ts';
import { endUserKey } from '../table/keys.ts';
import { setAll, updateWrite } from '../table/table.ts';
import { type TransactItem, transact } from '../table/transactions.ts';
import { addSeconds, type Instant, later, toInstant } from '../time.ts';
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
  ...shownLimits(budget ?? {}),
  spentToday: toXTokens(spending.dayThousandths),
  spentThisMonth: toXTokens(spending.monthThousandths),
});

/**
 * The budget of an end-user, and what they spent today and this month. Throws `NotFoundError`. Without a budget it is added up of the month's
 * requests; of more than 1,000 as a `largeRead`, with its error.
 */
export const getEndUserBudget = async (id: EndUserId, now: Date): Promise<BudgetState> => {
  const at = toInstant(now);
  const endUser = await getEndUser(id);
  const { accountId, endUserId, budget } = endUser;
  const spending = budget
    ? await readSpending(accountId, endUserId, at)
    : spendingAt(at, await addedUp(endUser, Object.values(periodsOf(at))));
  return { budget, spending };
};

/** Requests that are read at once: some 12 calls of the table. More are a large read. */
const REQUESTS_AT_ONCE = 1_000;

/** The newest entries of a ledger, which are consistent: the index of requests can be seconds behind. */
const NEWEST_ENTRIES = { page: 1, pageSize: 500 };

/** The spending, less refunds, by day or month. */
type Sums = ReadonlyMap<string, Thousandths>;

const spendingAt = (at: Instant, sums: Sums): Spending => {
  const { day, month } = periodsOf(at);
  return { dayThousandths: sums.get(day) ?? 0, monthThousandths: sums.get(month) ?? 0 };
};

/** An end-user's spending in these periods, of the requests in the index and of those that the ledger's newest entries name. */
const addedUp = async (
  { accountId, email: endUserEmail, endUserId }: EndUser,
  periods: readonly string[],
): Promise<Sums> => {
  const ids = new Set<string>();
  const createdFrom = toInstant(new Date(periods.toSorted()[0]?.slice(0, 'YYYY-MM'.length) ?? ''));
  for await (const requestId of listRequestIdsOfAccount(accountId, { endUserEmail, createdFrom }))
    ids.add(requestId);
  const { items: newest } = await listLedgerEntries(accountId, NEWEST_ENTRIES, 0);
  for (const entry of newest) if (entry.endUserId === endUserId) ids.add(entry.reference);
  const sums = new Map(periods.map((period) => [period, 0]));
  const add = async (): Promise<Sums> => {
    const all = [...ids];
    for (let start = 0; start < all.length; start += REQUESTS_AT_ONCE) {
      const read = await findUsageOfRequests(accountId, all.slice(start, start + REQUESTS_AT_ONCE));
      for (const { createdAt, debitThousandths, refundThousandths = 0, ...request } of read.values()) {
        if (request.endUserId !== endUserId) continue;
        for (const [period, sum] of sums) {
          if (createdAt.startsWith(period)) sums.set(period, sum + debitThousandths - refundThousandths);
        }
      }
    }
    return sums;
  };
  return ids.size <= REQUESTS_AT_ONCE ? add() : largeRead(accountId, add);
};

/** Attempts to sum the spending before a first budget. An attempt fails when a request is created or ends meanwhile. */
const MAX_FIRST_ATTEMPTS = 5;

/** Longest time between a creation's `createdAt` and its write, clock skew included. */
const WRITTEN_WITHIN_SECONDS = 120;

/**
 * Access pattern 31: sets the budget of an end-user; undefined: no limit. The first budget starts the counts with the spending so
 * far, in one transaction that a concurrent change of the spending refuses. Around midnight the counts of both days are started.
 * Throws the errors of `getEndUserBudget`, and `ServiceError` with `temporarily_unavailable` when the spending changes all the
 * time.
 */
export const putEndUserBudget = async (
  id: EndUserId,
  budget: Budget | undefined,
  now: Date,
): Promise<BudgetState> => {
  const at = toInstant(now);
  let firstAttempts = 0;
  let spending: Spending = { dayThousandths: 0, monthThousandths: 0 };
  await transact(async (): Promise<TransactItem[]> => {
    const endUser = await getEndUser(id);
    const { accountId, endUserId, lastActiveAt } = endUser;
    if (!budget || endUser.budget) {
      ({ spending } = await getEndUserBudget(id, now));
      if (!endUser.budget) return [];
      const isThere = ' AND attribute_exists(budget)';
      return [budget ? changeWrite(endUser, { budget }, isThere) : removeWrite(endUser)];
    }
    if (firstAttempts++ === MAX_FIRST_ATTEMPTS) {
      const message = 'The end-user creates requests all the time: repeat the call.';
      throw new ServiceError('temporarily_unavailable', message, { retryAfterSeconds: 1 });
    }
    const since = later(at, lastActiveAt);
    const periods = [addSeconds(at, -WRITTEN_WITHIN_SECONDS), at, since].flatMap((instant) =>
      Object.values(periodsOf(instant)),
    );
    const sums = await addedUp(endUser, [...new Set(periods)]);
    spending = spendingAt(at, sums);
    return [firstWrite(endUser, budget, since), ...beginSpendingWrites(accountId, endUserId, sums)];
  });
  return { budget, spending };
};

/** Sets or removes attributes of an end-user who is still the same, under one more condition. */
const changeWrite = (
  { accountId, email, endUserId }: EndUser,
  attributes: Partial<EndUser>,
  condition = '',
  values: Record<string, number> = {},
): TransactItem =>
  updateWrite(endUserKey(accountId, email), {
    ...setAll(attributes, { ':id': endUserId, ...values }),
    ConditionExpression: `endUserId = :id${condition}`,
  });

const removeWrite = (endUser: EndUser): TransactItem =>
  changeWrite(endUser, { budget: undefined, budgetSince: undefined });

const firstWrite = (endUser: EndUser, budget: Budget, budgetSince: Instant): TransactItem =>
  changeWrite(
    endUser,
    { budget, budgetSince },
    ' AND attribute_not_exists(budget) AND totalRequests = :requests AND spentThousandths = :spent',
    { ':requests': endUser.totalRequests, ':spent': endUser.spentThousandths },
  );
