import { type Clock, systemClock } from '../clock.ts';
import { removeFilesOf } from '../files/remove-files.ts';
import { statusAt } from '../requests/request-rules.ts';
import { findRequest, markExpired } from '../requests/requests.ts';

/** The time of the files is not over by this function's clock. The state machine tries again by this name. */
export class NotExpiredYetError extends Error {
  override name = 'NotExpiredYetError';
}

/** Some files are still there. The state machine tries again by this name. */
export class FilesRemainError extends Error {
  override name = 'FilesRemainError';
}

/**
 * Removes the files of a request whose time is over and marks its record. Nothing that a caller sees changes:
 * the record has read `expired` from `expiresAt` on. Harmless the second time, and when the request is gone.
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
