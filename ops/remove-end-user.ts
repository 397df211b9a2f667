import type { AuditWrite } from '../core/audit/audit.ts';
import { deleteEndUser, type RemovedRequests } from '../core/deletion/delete-end-user.ts';
import { whileInTime } from '../core/deletion/delete-requests.ts';
import type { EndUserId } from '../core/end-users/end-users.ts';
import { ServiceError } from '../core/errors.ts';
import { type Clock, systemClock } from '../core/time.ts';

/**
 * Removes an end-user as the API's DELETE does, in as many calls as the removal needs. Returns how much the last call
 * removed. `extraWrites` commit with the first claim of the end-user. Throws `NotFoundError`, and `ConflictError`
 * while a request is unfinished: a call that is refused before its time is up ends the removal.
 */
export const removeEndUser = async (
  id: EndUserId,
  clock: Clock = systemClock,
  extraWrites: AuditWrite[] = [],
): Promise<RemovedRequests> => {
  for (;;) {
    const isInTime = whileInTime(clock.now(), clock);
    try {
      return await deleteEndUser(id, clock, extraWrites);
    } catch (error) {
      const isCutShort = error instanceof ServiceError && error.code === 'temporarily_unavailable';
      if (!isCutShort || isInTime()) throw error;
    }
  }
};
