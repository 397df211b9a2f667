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
 * One of the caller's own users. `activeRequests` counts those that are queued or processing. `deletingAt` is
 * set while a cascade removes everything of theirs: until it is done they cannot create.
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

/** Who an end-user is: an address, within an account. */
export interface EndUserId {
  accountId: string;
  email: string;
}

export const toEndUser = (item: StoredItem): EndUser => EndUser.parse(item);

/** An end-user as the API shows them. */
export const renderEndUser = (endUser: EndUser) => ({
  email: endUser.email,
  createdAt: endUser.createdAt,
  lastActiveAt: endUser.lastActiveAt,
  totalRequests: endUser.totalRequests,
  totalXTokensSpent: toXTokens(endUser.spentThousandths),
  blockedAt: endUser.blockedAt ?? null,
});

const notFound = (): NotFoundError => new NotFoundError('There is no such end-user.');

/** Access pattern 10: an end-user by address, strongly consistent. Throws `NotFoundError`. */
export const getEndUser = async ({ accountId, email }: EndUserId): Promise<EndUser> => {
  const { Item } = await table.send(
    new GetCommand({ TableName: tableName(), Key: endUserKey(accountId, email), ConsistentRead: true }),
  );
  if (!Item) throw notFound();
  return toEndUser(Item);
};

/** Blocks an end-user from now on, or again; work under way goes on. Throws `NotFoundError`. */
export const blockEndUser = (id: EndUserId, now: Date): Promise<EndUser> =>
  updateEndUser(id, {
    UpdateExpression: 'SET blockedAt = :now',
    ExpressionAttributeValues: { ':now': toInstant(now) },
  });

/** Lets an end-user create again; harmless when they may. Throws `NotFoundError`. */
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
 * Claims an end-user for removal: from here on they cannot create. Gives the time from which on no request can
 * be theirs, which stays the same when claimed again; undefined while any of their requests is queued or
 * processing: then nothing has changed. Throws `NotFoundError`.
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
    // The clock that stamped the last creation may be a little ahead of the one that stamped the claim.
    return deletingAt > lastActiveAt ? deletingAt : lastActiveAt;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    if (!error.Item) throw notFound();
    return undefined;
  }
};

/** Removes an end-user that was claimed for it. False when somebody else has removed them. */
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
 * Counts an accepted request, creating the end-user on first use. Refused, with the stored item, when the
 * end-user is blocked or being removed.
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

/** Counts a request out that became terminal, and takes its refund off what the end-user spent. */
export const countSettlementWrite = ({ accountId, email }: EndUserId, refund: Thousandths): TransactItem => ({
  Update: {
    TableName: tableName(),
    Key: endUserKey(accountId, email),
    UpdateExpression: 'ADD activeRequests :minusOne, spentThousandths :minusRefund',
    ConditionExpression: 'attribute_exists(PK)',
    ExpressionAttributeValues: { ':minusOne': -1, ':minusRefund': -refund },
  },
});
