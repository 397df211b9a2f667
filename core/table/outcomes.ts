import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { RateLimitedError } from '../errors.ts';

/**
 * Whether a write that failed like this may have been made, or still be made: no answer came, or the service
 * failed on the way. Only a refusal by the table itself rules that out.
 */
export const leavesOutcomeOpen = (error: unknown): boolean => {
  if (error instanceof RateLimitedError) return leavesOutcomeOpen(error.cause);
  if (!(error instanceof DynamoDBServiceException)) return true;
  return error.$fault !== 'client' || error.name === 'TransactionInProgressException';
};
