import { leaveNamedRoutes } from '../admission/admission.ts';
import type { DeletedRequest } from '../requests/deleted-requests.ts';
import type { Clock } from '../time.ts';
import { finishDeletion } from './finish-deletion.ts';

/**
 * Goes on with a deletion that its call left: first takes the request out of the queues of its routes, and releases its permits. Functions of
 * the API may not. If that could not be done, the deletion stays due.
 */
export const resumeDeletion = async (
  { routes = [], ...deleted }: DeletedRequest,
  clock: Clock,
): Promise<void> => {
  const { requestId, accountId, accounted } = deleted;
  const hasLeft = await leaveNamedRoutes(
    { requestId, accountId, createdAt: accounted.createdAt },
    routes,
    clock,
  );
  await finishDeletion({ ...deleted, ...(!hasLeft && { routes }) });
};
