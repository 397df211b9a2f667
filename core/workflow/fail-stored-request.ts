import { type Clock, systemClock } from '../clock.ts';
import type { Failure } from '../errors.ts';
import { removeFilesOf } from '../files/remove-files.ts';
import { followUp } from './follow-up.ts';
import { endAsFailed } from './settle-request.ts';

/** As `failRequest`, for a request that may have files already: they are removed before it is off the open work. */
export const failStoredRequest = async (
  requestId: string,
  error: Failure,
  clock: Clock = systemClock,
  operatorNote?: string,
): Promise<void> => {
  await endAsFailed(requestId, error, clock, operatorNote);
  await followUpWithFiles(requestId);
};

/** As `followUp`; of a request that failed, the files that were stored all the same are removed. */
export const followUpWithFiles = (requestId: string): Promise<void> =>
  followUp(requestId, async (request) =>
    request.status === 'failed' ? (await removeFilesOf(request, [])).complete : true,
  );
