import { leaveNamedRoutes } from '../admission/admission.ts';
import { cancelTasksOfDeleted } from '../ending/close-request.ts';
import type { ProviderRouteOf } from '../provider-calls/providers.ts';
import type { DeletedRequest } from '../requests/deleted-requests.ts';
import type { Clock } from '../time.ts';
import { finishDeletion } from './finish-deletion.ts';

/**
 * Resumes a deletion that its call left unfinished. First takes the request out of its routes' queues, releases its permits and
 * cancels its tasks, which API functions have no permission for. The deletion stays due until every step is done.
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
