import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { creationTimeOf, newRemovalId } from '../ids.ts';
import { dueListing, endUserKey, endUserPartition, endUserRemovalKey, removalPrefix } from '../table/keys.ts';
import {
  getItem,
  lastItems,
  partitionQuery,
  putWrite,
  type StoredItem,
  setAll,
  tableName,
  updateOf,
  updateWrite,
} from '../table/table.ts';
import {
  type ExtraWrites,
  refusedBy,
  transact,
  writeItem,
  writeUnlessRefused,
} from '../table/transactions.ts';
import { addSeconds, type Instant, toInstant } from '../time.ts';
import { type EndUserId, endUserNotFound, getEndUser, toEndUser } from './end-users.ts';

/**
 * The removal of an end-user with their requests, pauses and files. It stays open for a day after the end-user is gone, for requests that
 * an index shows late.
 */
export const EndUserRemoval = z.object({
  accountId: z.string(),
  email: z.string(),
  removalId: z.string(),
  /** The end-user's own id. */
  endUserId: z.string(),
  /** The removal of the end-user's item. Later passes are the reconciler's. */
  removedAt: z.optional(z.string()),
  /** The id of the call that removed the end-user, or `RECONCILER`. */
  removedBy: z.optional(z.string()),
});
export type EndUserRemoval = z.infer<typeof EndUserRemoval>;

/** Removed by the reconciler, on behalf of a call that did not finish. */
export const RECONCILER = 'reconciler';

/** A removal from a stored item. Throws when the item is malformed. */
export const toEndUserRemoval = (item: StoredItem): EndUserRemoval => EndUserRemoval.parse(item);

/** The API gives a call up after 29 s. Then the reconciler goes on. */
const CALL_SECONDS = 30;
/**
 * The schedule of a removal's passes, in seconds after the end-user was removed. An index usually shows a write within a second;
 * while DynamoDB is disturbed it takes minutes, or hours.
 */
const PASSES_AFTER_SECONDS = [60, 900, 86_400];

/** The due time of the first pass after an instant; undefined after the last pass. A late pass replaces earlier passes. */
export const nextPassAt = (removedAt: Instant, after: Instant): Instant | undefined =>
  PASSES_AFTER_SECONDS.map((seconds) => addSeconds(removedAt, seconds)).find((dueAt) => dueAt > after);

/**
 * Most seconds that the clock behind a request's id may be ahead of the removal's: far more than clocks
 * differ.
 */
const CLOCK_MARGIN_SECONDS = 300;

/**
 * Whether a request may be of the removed end-user, by the time in its id. Saves reading the requests of a later one with the same
 * address, who may have made thousands by the last pass.
 */
export const mayBeOfRemoved = ({ removedAt }: EndUserRemoval, requestId: string): boolean =>
  removedAt === undefined || creationTimeOf(requestId) <= addSeconds(removedAt, CLOCK_MARGIN_SECONDS);

/**
 * Access pattern 33: claims an end-user for removal: stops their creations and records the removal. Claiming
 * again returns the same removal. Undefined, with nothing changed, while one of their requests is queued or
 * processing. The `extraWrites` are made with the first claim only. Throws `NotFoundError`.
 */
export const claimForRemoval = async (
  id: EndUserId,
  now: Date,
  extraWrites: ExtraWrites = [],
): Promise<EndUserRemoval | undefined> => {
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
    const due = dueListing('CHECK', removalId, addSeconds(toInstant(now), CALL_SECONDS));
    return [
      updateWrite(endUserKey(accountId, email), {
        ...setAll({ deletingAt: toInstant(now), removalId }, { ':none': 0, ':endUser': endUserId }),
        ConditionExpression:
          'attribute_not_exists(removalId) AND activeRequests = :none AND endUserId = :endUser',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
      putWrite({ ...endUserRemovalKey(removal), ...due, ...removal }),
      ...extraWrites,
    ];
  });
  return removal;
};

/**
 * Access pattern 33: removes a claimed end-user, and lists the removal for its next pass. Returns who removed
 * them: `by`, unless another was first.
 */
export const removeClaimedEndUser = async (
  removal: EndUserRemoval,
  by: string,
  now: Date,
): Promise<string> => {
  const { accountId, email, removalId } = removal;
  const removedAt = toInstant(now);
  const due = dueListing('CHECK', removalId, nextPassAt(removedAt, removedAt) ?? removedAt);
  let removedBy = by;
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
      // No condition is needed: end-user and removal are claimed in one write, and the removal closes only after this
      // transaction.
      updateWrite(endUserRemovalKey(removal), setAll({ removedAt, removedBy: by, ...due })),
    ];
  });
  return removedBy;
};

/** Identifies a removal. */
type RemovalId = Pick<EndUserRemoval, 'accountId' | 'email' | 'removalId'>;

/** Access pattern 34: a removal, strongly consistent; undefined once it is closed. */
export const findRemoval = async (id: RemovalId): Promise<EndUserRemoval | undefined> => {
  const item = await getItem(endUserRemovalKey(id));
  return item && toEndUserRemoval(item);
};

/** Access pattern 34: the last open removal of an address, strongly consistent; undefined without an open removal. */
export const findLastRemoval = async ({
  accountId,
  email,
}: EndUserId): Promise<EndUserRemoval | undefined> => {
  const [item] = await lastItems(partitionQuery(endUserPartition(accountId), removalPrefix(email)), 1);
  return item && toEndUserRemoval(item);
};

/**
 * Access pattern 35: lists a removal for its next pass. Does nothing when it is listed for that or a later one, or closed.
 */
export const listForNextPass = async (removal: EndUserRemoval, dueAt: Instant): Promise<void> => {
  await writeUnlessRefused(
    updateOf(endUserRemovalKey(removal), {
      UpdateExpression: 'SET GSI1SK = :dueAt',
      ConditionExpression: 'GSI1SK < :dueAt',
      ExpressionAttributeValues: { ':dueAt': dueAt },
    }),
  );
};

/** Access pattern 35: closes a removal: nothing of the end-user is left. Repeating it changes nothing. */
export const closeRemoval = async (id: RemovalId): Promise<void> => {
  await writeItem(new DeleteCommand({ TableName: tableName(), Key: endUserRemovalKey(id) }));
};
