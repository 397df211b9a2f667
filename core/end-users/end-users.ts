import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, GetCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { NotFoundError } from '../errors.ts';
import { type Thousandths, toXTokens } from '../money.ts';
import { endUserKey, endUserListing } from '../table/keys.ts';
import { type StoredItem, table, tableName } from '../table/table.ts';
import { type TransactItem, writeItem } from '../table/transactions.ts';
import { type Instant, toInstant } from '../time.ts';

/**
 * One of the caller's own users. `activeRequests` counts queued and processing requests. `deletingAt` is set
 * while the end-user and their requests are being removed; they cannot create then.
 */
export const EndUser = z.object({
  accountId: z.string(),
  email: z.string(),
  createdAt: z.string(),
  lastActiveAt: z.string(),
  totalRequests: z.number(),
  activeRequests: z.number(),
  spentThousandths: z.number(),
  blockedAt: z.optional(z.string()),
  deletingAt: z.optional(z.string()),
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
export const renderEndUser = (endUser: EndUser) => ({
  email: endUser.email,
  createdAt: endUser.createdAt,
  lastActiveAt: endUser.lastActiveAt,
  totalRequests: endUser.totalRequests,
  totalXTokensSpent: toXTokens(endUser.spentThousandths),
  blockedAt: endUser.blockedAt ?? null,
});

const notFound = (): NotFoundError => new NotFoundError('There is no such end-user.');

/** Access pattern 34: an end-user by address, strongly consistent. Throws `NotFoundError`. */
export const getEndUser = async ({ accountId, email }: EndUserId): Promise<EndUser> => {
  const { Item } = await table.send(
    new GetCommand({ TableName: tableName(), Key: endUserKey(accountId, email), ConsistentRead: true }),
  );
  if (!Item) throw notFound();
  return toEndUser(Item);
};

/**
 * Access pattern 35: blocks an end-user's creations; requests in progress continue. Repeating it renews the
 * instant. Throws `NotFoundError`.
 */
export const blockEndUser = (id: EndUserId, now: Date): Promise<EndUser> =>
  updateEndUser(id, {
    UpdateExpression: 'SET blockedAt = :now',
    ExpressionAttributeValues: { ':now': toInstant(now) },
  });

/** Access pattern 36: unblocks an end-user; does nothing when not blocked. Throws `NotFoundError`. */
export const unblockEndUser = (id: EndUserId): Promise<EndUser> =>
  updateEndUser(id, { UpdateExpression: 'REMOVE blockedAt' });

const updateEndUser = async (
  { accountId, email }: EndUserId,
  update: Pick<UpdateCommandInput, 'UpdateExpression' | 'ExpressionAttributeValues'>,
): Promise<EndUser> => {
  try {
    const { Attributes } = await writeItem(
      new UpdateCommand({
        TableName: tableName(),
        Key: endUserKey(accountId, email),
        ...update,
        ConditionExpression: 'attribute_exists(PK)',
        ReturnValues: 'ALL_NEW',
      }),
    );
    return toEndUser(Attributes ?? {});
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) throw notFound();
    throw error;
  }
};

/**
 * Access pattern 37: claims an end-user for removal and stops their creations. Returns the instant after
 * which they created nothing; claiming again returns the same. Undefined, with nothing changed, while a
 * request of theirs is queued or processing. Throws `NotFoundError`.
 */
export const claimForRemoval = async (
  { accountId, email }: EndUserId,
  now: Date,
): Promise<Instant | undefined> => {
  try {
    const { Attributes } = await writeItem(
      new UpdateCommand({
        TableName: tableName(),
        Key: endUserKey(accountId, email),
        UpdateExpression: 'SET deletingAt = if_not_exists(deletingAt, :now)',
        ConditionExpression: 'attribute_exists(PK) AND activeRequests = :none',
        ExpressionAttributeValues: { ':now': toInstant(now), ':none': 0 },
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    const { deletingAt = '', lastActiveAt } = toEndUser(Attributes ?? {});
    // The clock of the last creation may be ahead of the clock of the claim.
    return deletingAt > lastActiveAt ? deletingAt : lastActiveAt;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    if (!error.Item) throw notFound();
    return undefined;
  }
};

/** Access pattern 38: removes a claimed end-user. False when already removed. */
export const removeClaimedEndUser = async ({ accountId, email }: EndUserId): Promise<boolean> => {
  try {
    await writeItem(
      new DeleteCommand({
        TableName: tableName(),
        Key: endUserKey(accountId, email),
        ConditionExpression: 'attribute_exists(deletingAt)',
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};

/**
 * Access pattern 39: counts a new request, inserting the end-user on first use. Refused, with the stored
 * item, when the end-user is blocked or being removed.
 */
export const countCreationWrite = (
  { accountId, email }: EndUserId,
  price: Thousandths,
  at: Instant,
): TransactItem => {
  const listing = endUserListing(accountId, at);
  return {
    Update: {
      TableName: tableName(),
      Key: endUserKey(accountId, email),
      UpdateExpression:
        'SET accountId = :account, email = :email, createdAt = if_not_exists(createdAt, :now), ' +
        'GSI1PK = :listing, GSI1SK = if_not_exists(GSI1SK, :place), lastActiveAt = :now ' +
        'ADD totalRequests :one, activeRequests :one, spentThousandths :price',
      ConditionExpression: 'attribute_not_exists(blockedAt) AND attribute_not_exists(deletingAt)',
      ExpressionAttributeValues: {
        ':account': accountId,
        ':email': email,
        ':now': at,
        ':listing': listing.GSI1PK,
        ':place': listing.GSI1SK,
        ':one': 1,
        ':price': price,
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  };
};

/**
 * Access pattern 40: counts a request as no longer active and subtracts its refund from the end-user's
 * spending.
 */
export const countSettlementWrite = ({ accountId, email }: EndUserId, refund: Thousandths): TransactItem => ({
  Update: {
    TableName: tableName(),
    Key: endUserKey(accountId, email),
    UpdateExpression: 'ADD activeRequests :minusOne, spentThousandths :minusRefund',
    ConditionExpression: 'attribute_exists(PK)',
    ExpressionAttributeValues: { ':minusOne': -1, ':minusRefund': -refund },
  },
});
