import { DeleteCommand, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { newRemovalId } from '../ids.ts';
import { noteListChange } from '../lists/counted-ranges.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { setAll } from '../table/expressions.ts';
import { dueListing, endUserKey, endUserPartition, endUserRemovalKey, removalPrefix } from '../table/keys.ts';
import { type StoredItem, table, tableName } from '../table/table.ts';
import { refusedBy, transact, writeItem } from '../table/transactions.ts';
import { addSeconds, toInstant } from '../time.ts';
import {
  END_USER_LIST,
  type EndUserId,
  endUserNotFound,
  getEndUser,
  toEndUser,
  WHOLE_LIST,
} from './end-users.ts';

/**
 * The removal of an end-user with everything of theirs. It outlives the end-user until nothing that an index
 * did not show yet can be left.
 */
export const EndUserRemoval = z.object({
  accountId: z.string(),
  email: z.string(),
  removalId: z.string(),
  /** The end-user's own id. */
  endUserId: z.string(),
  /** When the end-user was removed: the first pass is complete. */
  removedAt: z.optional(z.string()),
  /** Who removed the end-user: an id of the call, or `RECONCILER`. */
  removedBy: z.optional(z.string()),
});
export type EndUserRemoval = z.infer<typeof EndUserRemoval>;

/** Removed by the reconciler, on behalf of a call that did not finish. */
export const RECONCILER = 'reconciler';

/** A removal from a stored item. Throws when the item is malformed. */
export const toEndUserRemoval = (item: StoredItem): EndUserRemoval => EndUserRemoval.parse(item);

/** Whether a request is of the removed end-user, not of a later one with the same address. */
export const isOfRemoved = (
  { endUserId }: Pick<EndUserRemoval, 'endUserId'>,
  request: Pick<StoredRequest, 'endUserId'>,
): boolean => request.endUserId === endUserId;

/** The API gives a call up after 29 s. Then the reconciler goes on. */
const CALL_SECONDS = 30;
/** An index shows a write within this time, with room to spare: usually it takes a fraction of a second. */
const INDEX_SECONDS = 60;

/**
 * Access pattern 37: claims an end-user for removal: stops their creations and records the removal. Claiming
 * again returns the same removal. Undefined, with nothing changed, while a request of theirs is queued or
 * processing. Throws `NotFoundError`.
 */
export const claimForRemoval = async (id: EndUserId, now: Date): Promise<EndUserRemoval | undefined> => {
  const removalId = newRemovalId(now);
  let endUser = await getEndUser(id);
  let removal: EndUserRemoval | undefined;
  await transact(async (refusals) => {
    if (refusedBy(refusals, 0)) {
      const found = refusals[0]?.item;
      if (!found) throw endUserNotFound();
      endUser = toEndUser(found);
    }
    removal = undefined;
    if (endUser.removalId !== undefined) {
      removal = await findRemoval({ ...id, removalId: endUser.removalId });
      if (!removal) throw endUserNotFound();
      return [];
    }
    if (endUser.activeRequests > 0) return [];
    const { accountId, email, endUserId } = endUser;
    removal = { accountId, email, removalId, endUserId };
    const due = dueListing('LOOK', removalId, addSeconds(toInstant(now), CALL_SECONDS));
    return [
      {
        Update: {
          TableName: tableName(),
          Key: endUserKey(accountId, email),
          ...setAll({ deletingAt: toInstant(now), removalId }, { ':none': 0, ':endUser': endUserId }),
          ConditionExpression:
            'attribute_not_exists(removalId) AND activeRequests = :none AND endUserId = :endUser',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      },
      { Put: { TableName: tableName(), Item: { ...endUserRemovalKey(removal), ...due, ...removal } } },
    ];
  });
  return removal;
};

/**
 * Access pattern 38: removes a claimed end-user, and lists the removal for a second pass. Returns who removed
 * them: `by`, unless another was first.
 */
export const removeClaimedEndUser = async (
  removal: EndUserRemoval,
  by: string,
  now: Date,
): Promise<string> => {
  const { accountId, email, removalId } = removal;
  const removedAt = toInstant(now);
  const due = dueListing('LOOK', removalId, addSeconds(removedAt, INDEX_SECONDS));
  let removedBy = by;
  await noteListChange(accountId, END_USER_LIST, WHOLE_LIST);
  await transact(async (refusals) => {
    if (refusedBy(refusals, 0)) {
      removedBy = (await findRemoval(removal))?.removedBy ?? RECONCILER;
      return [];
    }
    return [
      {
        Delete: {
          TableName: tableName(),
          Key: endUserKey(accountId, email),
          ConditionExpression: 'removalId = :removal',
          ExpressionAttributeValues: { ':removal': removalId },
        },
      },
      // An end-user and their removal are claimed in one write, and close only after this: no condition of its own.
      {
        Update: {
          TableName: tableName(),
          Key: endUserRemovalKey(removal),
          ...setAll({ removedAt, removedBy: by, ...due }),
        },
      },
    ];
  });
  return removedBy;
};

/** Identifies a removal. */
type RemovalId = Pick<EndUserRemoval, 'accountId' | 'email' | 'removalId'>;

/** Access pattern 68: a removal, strongly consistent; undefined once it is closed. */
export const findRemoval = async (id: RemovalId): Promise<EndUserRemoval | undefined> => {
  const { Item } = await table.send(
    new GetCommand({ TableName: tableName(), Key: endUserRemovalKey(id), ConsistentRead: true }),
  );
  return Item && toEndUserRemoval(Item);
};

/** Access pattern 69: the removals of an address that are not closed, strongly consistent. */
export const listRemovals = async ({ accountId, email }: EndUserId): Promise<EndUserRemoval[]> => {
  const { Items = [] } = await table.send(
    new QueryCommand({
      TableName: tableName(),
      KeyConditionExpression: 'PK = :endUsers AND begins_with(SK, :removals)',
      ExpressionAttributeValues: {
        ':endUsers': endUserPartition(accountId),
        ':removals': removalPrefix(email),
      },
      ConsistentRead: true,
    }),
  );
  return Items.map(toEndUserRemoval);
};

/** Access pattern 70: closes a removal: nothing of the end-user is left. Repeating it changes nothing. */
export const closeRemoval = async (id: RemovalId): Promise<void> => {
  await writeItem(new DeleteCommand({ TableName: tableName(), Key: endUserRemovalKey(id) }));
};
