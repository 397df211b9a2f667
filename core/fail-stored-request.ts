import { type Clock, systemClock } from './clock.ts';
import type { Failure } from './errors.ts';
import { removeUnrecordedFiles } from './object-removal.ts';
import { findRequest } from './requests.ts';
import { failRequest } from './settle-request.ts';

/** As `failRequest`, for a request that may have files already: they are removed. */
export const failStoredRequest = async (
  requestId: string,
  error: Failure,
  clock: Clock = systemClock,
  operatorNote?: string,
): Promise<void> => {
  await failRequest(requestId, error, clock, operatorNote);
  const request = await findRequest(requestId);
  if (request?.status === 'failed') await removeUnrecordedFiles(request.accountId, requestId);
};
