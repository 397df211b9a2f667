import { leaveNamedRoutes } from '../admission/admission.ts';
import { cancelTasksOfDeleted } from '../ending/close-request.ts';
import type { ProviderRouteOf } from '../provider-calls/providers.ts';
import type { DeletedRequest } from '../requests/deleted-requests.ts';
import type { Clock } from '../time.ts';
import { finishDeletion } from './finish-deletion.ts';

/**
 * Goes on with a deletion that its call left: first takes the request out of the queues of its routes, releases its permits and cancels
 * its tasks. Functions of the API may not. If that could not be done, the deletion stays due.
 */
export const resumeDeletion = async (
  { routes = [], model, ...deleted }: DeletedRequest,
  providerRouteOf: ProviderRouteOf,
  clock: Clock,
): Promise<void> => {
  const { requestId, accountId, accounted } = deleted;
  const hasLeft = await leaveNamedRoutes(
    { requestId, accountId, createdAt: accounted.createdAt },
    routes,
    clock,
  );
  if (model !== undefined) await cancelTasksOfDeleted({ requestId, model }, providerRouteOf, clock);
  await finishDeletion({ ...deleted, ...(!hasLeft && { routes }) });
};
