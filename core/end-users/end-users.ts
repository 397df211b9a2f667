import * as z from 'zod/mini';
import { Budget } from '../budgets/budget-rules.ts';
import { NotFoundError } from '../errors.ts';
import { type Thousandths, toXTokens } from '../money.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { endUserKey, endUserListing } from '../table/keys.ts';
import { updateExisting } from '../table/outcomes.ts';
import { getItem, type StoredItem, setAll, type UpdateParts, updateWrite } from '../table/table.ts';
import type { ExtraWrites, TransactItem } from '../table/transactions.ts';
import { type Instant, toInstant } from '../time.ts';
import type { EndUserAnswer } from './end-user-answers.ts';

/**
 * An end-user: a user of the account's own product. `activeRequests` counts queued and processing requests. `deletingAt` is set
 * during the removal of the end-user and their requests, when creations are refused.
 */
export const EndUser = z.object({
  accountId: z.string(),
  email: z.string(),
  /** The id of the request that created the end-user. Distinguishes the end-user from earlier and later holders of the address. */
  endUserId: z.string(),
  createdAt: z.string(),
  lastActiveAt: z.string(),
  totalRequests: z.number(),
  activeRequests: z.number(),
  spentThousandths: z.number(),
  blockedAt: z.optional(z.string()),
  deletingAt: z.optional(z.string()),
  /** The removal that goes on since `deletingAt`. */
  removalId: z.optional(z.string()),
  /** The end-user's budget. Spending is counted while a budget is set. */
  budget: z.optional(Budget),
  /** The start of the budget's counts, which include the debits of the month up to this instant. */
  budgetSince: z.optional(z.string()),
});
export type EndUser = z.infer<typeof EndUser>;

/** Identifies an end-user: an email address within an account. */
export interface EndUserId {
  accountId: string;
  email: string;
}

/** An end-user from a stored item. Throws when the item is malformed. */
export const toEndUser = (item: StoredItem): EndUser => EndUser.parse(item);

/** An end-user as the API shows it. */
export const renderEndUser = (endUser: EndUser): EndUserAnswer => ({
  email: endUser.email,
  createdAt: endUser.createdAt,
  lastActiveAt: endUser.lastActiveAt,
  totalRequests: endUser.totalRequests,
  totalXTokensSpent: toXTokens(endUser.spentThousandths),
  blockedAt: endUser.blockedAt ?? null,
});

/** The answer for an end-user that does not exist. */
export const endUserNotFound = (): NotFoundError => new NotFoundError('There is no such end-user.');

/** Access pattern 30: an end-user by address, strongly consistent. Throws `NotFoundError`. */
export const getEndUser = async ({ accountId, email }: EndUserId): Promise<EndUser> => {
  const item = await getItem(endUserKey(accountId, email));
  if (!item) throw endUserNotFound();
  return toEndUser(item);
};

/**
 * Access pattern 31: blocks an end-user's creations; requests in progress continue. Repeating it renews the
 * instant. Throws `NotFoundError`.
 */
export const blockEndUser = (id: EndUserId, now: Date, extraWrites?: ExtraWrites): Promise<EndUser> =>
  updateEndUser(id, setAll({ blockedAt: toInstant(now) }), extraWrites);

/** Access pattern 31: unblocks an end-user; does nothing when not blocked. Throws `NotFoundError`. */
export const unblockEndUser = (id: EndUserId, extraWrites?: ExtraWrites): Promise<EndUser> =>
  updateEndUser(id, setAll({ blockedAt: undefined }), extraWrites);

const updateEndUser = async (
  { accountId, email }: EndUserId,
  update: UpdateParts,
  extraWrites?: ExtraWrites,
): Promise<EndUser> => {
  const item = await updateExisting(endUserKey(accountId, email), update, extraWrites);
  if (!item) throw endUserNotFound();
  return toEndUser(item);
};

/** Fields of a request that are counted with its end-user. */
type CountedRequest = Pick<
  StoredRequest,
  'accountId' | 'requestId' | 'endUserEmail' | 'debitThousandths' | 'createdAt'
>;

/** The id that a request's end-user has, or gets by its creation. */
export const endUserIdOf = (request: CountedRequest, found: EndUser | undefined): string =>
  found?.endUserId ?? request.requestId;

/** That an end-user's budget is this one. Limit by limit: another version may keep more in it. */
const budgetCondition = (
  budget: Budget | undefined,
): { condition: string; values: Record<string, Thousandths> } => {
  if (!budget) return { condition: 'attribute_not_exists(budget)', values: {} };
  const { perDayThousandths: day, perMonthThousandths: month } = budget;
  const limitCondition = (name: keyof Budget, value: Thousandths | undefined, placeholder: string): string =>
    value === undefined ? `attribute_not_exists(budget.${name})` : `budget.${name} = ${placeholder}`;
  return {
    condition: `attribute_exists(budget) AND ${limitCondition('perDayThousandths', day, ':perDay')} AND ${limitCondition('perMonthThousandths', month, ':perMonth')}`,
    values: {
      ...(day !== undefined && { ':perDay': day }),
      ...(month !== undefined && { ':perMonth': month }),
    },
  };
};

/**
 * Access pattern 32: counts a new request with its end-user as last `found`, inserting them on first use; `lastActiveAt` only
 * grows. Refused, with the stored item if present, when the end-user is blocked or being removed. Also refused when the stored
 * id, budget or last activity differs from `found`.
 */
export const countCreationWrite = (request: CountedRequest, found: EndUser | undefined): TransactItem => {
  const { accountId, endUserEmail: email, debitThousandths, createdAt } = request;
  const listing = endUserListing(accountId, createdAt);
  const lastActiveAt = found && found.lastActiveAt > createdAt ? found.lastActiveAt : createdAt;
  const isSame = found === undefined ? 'attribute_not_exists(endUserId)' : 'endUserId = :id';
  const hasBudget = budgetCondition(found?.budget);
  return updateWrite(endUserKey(accountId, email), {
    UpdateExpression:
      'SET accountId = :account, email = :email, endUserId = :id, ' +
      'createdAt = if_not_exists(createdAt, :now), GSI1PK = :listing, ' +
      'GSI1SK = if_not_exists(GSI1SK, :listed), lastActiveAt = :last ' +
      'ADD totalRequests :one, activeRequests :one, spentThousandths :price',
    ConditionExpression:
      'attribute_not_exists(blockedAt) AND attribute_not_exists(deletingAt) AND ' +
      `${isSame} AND ${hasBudget.condition} AND (attribute_not_exists(lastActiveAt) OR lastActiveAt <= :last)`,
    ExpressionAttributeValues: {
      ':account': accountId,
      ':email': email,
      ':id': endUserIdOf(request, found),
      ':now': createdAt,
      ':last': lastActiveAt,
      ':listing': listing.GSI1PK,
      ':listed': listing.GSI1SK,
      ':one': 1,
      ':price': debitThousandths,
      ...hasBudget.values,
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
};

/** Whether the first count of an end-user's budget included the debit of a request that was created before the budget. */
export const beganWith = ({ budgetSince }: EndUser, createdAt: Instant): boolean =>
  budgetSince !== undefined && createdAt <= budgetSince;

/**
 * Access pattern 32: counts a request as no longer active and subtracts its refund from the end-user's spending. Pass `refunded`
 * only if the creation predates the budget. `isCounted`: the first count of the budget included the request's debit, so the
 * refund is subtracted from the count. Refused with the stored item when `beganWith` differs from `isCounted`.
 */
export const countSettlementWrite = (
  { accountId, email }: EndUserId,
  refund: Thousandths,
  refunded?: Pick<StoredRequest, 'createdAt'> & { isCounted: boolean },
): TransactItem => {
  const began = refunded?.isCounted
    ? ' AND budgetSince >= :created'
    : ' AND (attribute_not_exists(budgetSince) OR budgetSince < :created)';
  return updateWrite(endUserKey(accountId, email), {
    UpdateExpression: 'ADD activeRequests :minusOne, spentThousandths :minusRefund',
    ConditionExpression: `attribute_exists(PK)${refunded ? began : ''}`,
    ExpressionAttributeValues: {
      ':minusOne': -1,
      ':minusRefund': -refund,
      ...(refunded && { ':created': refunded.createdAt }),
    },
    ...(refunded && { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
  });
};
