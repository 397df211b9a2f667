import type { AuditWrite } from '../core/audit/audit.ts';
import { deleteEndUser, type RemovedRequests } from '../core/deletion/delete-end-user.ts';
import { whileInTime } from '../core/deletion/delete-requests.ts';
import type { EndUserId } from '../core/end-users/end-users.ts';
import { ServiceError } from '../core/errors.ts';
import { type Clock, systemClock } from '../core/time.ts';

/**
 * Removes an end-user as the API's DELETE does, and repeats a removal that takes longer than a call has. Returns how much the last call
 * removed. The `extraWrites` are made with the first claim. Throws `NotFoundError`, and `ConflictError` while a request is unfinished; a
 * refusal of a call that still had time is final.
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
