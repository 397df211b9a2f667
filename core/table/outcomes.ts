import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { OutcomeUnknownError, RateLimitedError, ServiceError } from '../errors.ts';
import type { ItemKey } from './keys.ts';
import { wasTriedBefore } from './retries.ts';
import { getItem, type StoredItem, tableName, type UpdateParts, updateOf } from './table.ts';
import { type ExtraWrites, writeBeside } from './transactions.ts';

/**
 * Whether a write that failed with this error may have been made, or may still be made. Possible causes: no
 * answer, a failure of the service, or earlier tries of the SDK with unknown answers. A refusal of the only
 * try, by the table or by our own rules, is certain.
 */
export const leavesOutcomeOpen = (error: unknown): boolean => {
  if (error instanceof OutcomeUnknownError) return true;
  if (error instanceof RateLimitedError) return leavesOutcomeOpen(error.cause);
  if (error instanceof ServiceError) return false;
  if (!(error instanceof DynamoDBServiceException)) return true;
  return (
    error.$fault !== 'client' || wasTriedBefore(error) || error.name === 'TransactionInProgressException'
  );
};

/**
 * Returns the item of a write that seemed to fail, as read by `find`. If there is none, throws the error.
 * Throws `OutcomeUnknownError` with this message if the write may still be made, or `find` fails too.
 */
export const findOutcome = async <Made>(
  error: unknown,
  find: () => Promise<Made | undefined>,
  unknownMessage: string,
): Promise<Made> => {
  let made: Made | undefined;
  try {
    made = await find();
  } catch (cause) {
    throw cause instanceof ServiceError ? cause : new OutcomeUnknownError(unknownMessage, cause);
  }
  if (made !== undefined) return made;
  throw leavesOutcomeOpen(error) ? new OutcomeUnknownError(unknownMessage, error) : error;
};

/**
 * Inserts an item under a new random id, with a put that is refused if the id is taken. Only an earlier
 * attempt of the same put, with a lost answer, can have taken it. Resolves a lost answer as `findOutcome`
 * does. The `extraWrites` are made in the same transaction.
 */
export const insertNew = async (
  Item: StoredItem & ItemKey,
  unknownMessage: string,
  extraWrites: ExtraWrites = [],
): Promise<void> => {
  const { PK, SK } = Item;
  const put = { TableName: tableName(), Item, ConditionExpression: 'attribute_not_exists(PK)' };
  try {
    await writeBeside(new PutCommand(put), extraWrites);
  } catch (error) {
    if (!leavesOutcomeOpen(error)) throw error;
    await findOutcome(error, () => getItem({ PK, SK }), unknownMessage);
  }
};

/**
 * Updates an item that is there, in one transaction with the `extraWrites`. Returns the updated item; undefined when the item is
 * absent or the update's own condition refuses.
 */
export const updateExisting = async (
  Key: ItemKey,
  update: UpdateParts,
  extraWrites: ExtraWrites = [],
): Promise<StoredItem | undefined> => {
  const { ConditionExpression: own } = update;
  const ConditionExpression =
    own === undefined ? 'attribute_exists(PK)' : `attribute_exists(PK) AND (${own})`;
  const command = updateOf(Key, { ...update, ConditionExpression, ReturnValues: 'ALL_NEW' });
  const { done, item } = await writeBeside(command, extraWrites);
  return done ? item : undefined;
};
