import { type Clock, systemClock } from '../clock.ts';
import { removeFilesOf } from '../files/remove-files.ts';
import { statusAt } from '../requests/request-rules.ts';
import { findRequest, markExpired } from '../requests/requests.ts';

/** The files have not expired by this function's clock. The state machine retries by this name. */
export class NotExpiredYetError extends Error {
  override name = 'NotExpiredYetError';
}

/** Some files could not be removed. The state machine retries by this name. */
export class FilesRemainError extends Error {
  override name = 'FilesRemainError';
}

/**
 * Removes the files of an expired request and marks its record. Callers see no change: the record reads
 * `expired` from `expiresAt` on. Does nothing when repeated or when the request is gone.
 *
 * Throws `NotExpiredYetError` and `FilesRemainError`.
 */
export const expireRequest = async (requestId: string, clock: Clock = systemClock): Promise<void> => {
  const request = await findRequest(requestId);
  if (request?.status !== 'succeeded' || request.expiredAt !== undefined) return;
  const now = clock.now();
  if (statusAt(request, now) !== 'expired') throw new NotExpiredYetError(`${requestId} has time left.`);
  const files = (request.outputs ?? []).flatMap(({ objectKey }) => objectKey ?? []);
  const { complete } = await removeFilesOf(request, files);
  if (!complete) throw new FilesRemainError(`Files of ${requestId} remain.`);
  await markExpired(requestId, now);
};
