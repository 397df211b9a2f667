import { bulkDelete, type DeletionOfMany } from '../../core/deletion/delete-requests.ts';
import type { BulkDeletionAnswer } from '../../core/requests/deletion-answers.ts';
import { apiHandler, json } from '../http/api-handler.ts';
import { checkAll } from '../http/api-request.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { BULK_DELETE_BODY } from '../http/bulk-delete-body.ts';

/** POST /v1/generations/bulk-delete. 200 with the outcome of each id; 400. */
export const handler = apiHandler(async (request) => {
  const account = await authorize(identifyCaller(request), 'generations:write', request.now);
  const [body] = checkAll(
    () => request.body(BULK_DELETE_BODY),
    () => request.query({}),
  );
  const requestIds = [...new Set(body.requestIds)];
  const outcomes = await bulkDelete(account.accountId, requestIds, request.now);
  const deleted = [...outcomes.values()].flatMap((found) => (found.outcome === 'deleted' ? [found] : []));
  const idsOf = (...wanted: DeletionOfMany['outcome'][]) =>
    requestIds.filter((id) => wanted.includes(outcomes.get(id)?.outcome ?? 'not_found'));
  return json(200, {
    requested: requestIds.length,
    deleted: deleted.length,
    removedObjects: deleted.reduce((sum, { removedObjects }) => sum + removedObjects, 0),
    // A failed request is still there, and the remedy is the same: repeat the call.
    conflicts: idsOf('conflict', 'failed'),
    notFound: idsOf('not_found'),
  } satisfies BulkDeletionAnswer);
});
