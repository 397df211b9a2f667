import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import type { PutCommand } from '@aws-sdk/lib-dynamodb';
import { OutcomeUnknownError, RateLimitedError, ServiceError } from '../errors.ts';
import { wasTriedBefore } from './retries.ts';
import { writeUnlessRefused } from './transactions.ts';

/**
 * Whether a write that failed like this may have been made, or still be made: no answer came, the service failed
 * on the way, or the SDK had tried it before, which tells nothing of the answers to its earlier tries. Only a refusal
 * of the only try rules that out, by the table or by our own rules.
 */
export const leavesOutcomeOpen = (error: unknown): boolean => {
  if (error instanceof RateLimitedError) return leavesOutcomeOpen(error.cause);
  if (error instanceof ServiceError) return false;
  if (!(error instanceof DynamoDBServiceException)) return true;
  return (
    error.$fault !== 'client' || wasTriedBefore(error) || error.name === 'TransactionInProgressException'
  );
};

/**
 * What a write that failed made after all, as `find` finds it. If it finds nothing, throws the error, or
 * `OutcomeUnknownError` with this message when the write may still be made or the look-up fails too.
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
 * Inserts an item under a new random id, by a put that is refused when the id is taken: only an earlier attempt of
 * the same put, whose answer was lost, can have taken it. A lost answer is looked up as `findOutcome` does.
 */
export const insertNew = async (
  put: PutCommand,
  find: () => Promise<unknown>,
  unknownMessage: string,
): Promise<void> => {
  try {
    await writeUnlessRefused(put);
  } catch (error) {
    if (!leavesOutcomeOpen(error)) throw error;
    await findOutcome(error, find, unknownMessage);
  }
};
