import { bulkDelete } from '../../core/deletion/bulk-delete.ts';
import type { DeletionOfMany } from '../../core/deletion/delete-requests.ts';
import { ValidationError } from '../../core/errors.ts';
import { parseFields } from '../../core/fields.ts';
import type { BulkDeletionAnswer } from '../../core/requests/deletion-answers.ts';
import { apiHandler } from '../http/api-handler.ts';
import type { ApiRequest } from '../http/api-request.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { BULK_DELETE_BODY } from '../http/bulk-delete-body.ts';
import { checkAll } from '../http/check-all.ts';
import { json } from '../http/responses.ts';

/** The distinct ids of the body, in order. Throws `ValidationError`. */
const readRequestIds = (request: ApiRequest): string[] => {
  const read = request.readBody();
  if (!read.ok) throw read.error;
  const { values, fields } = parseFields(BULK_DELETE_BODY, read.body);
  if (values.requestIds === undefined || Object.keys(fields).length > 0) throw new ValidationError(fields);
  return [...new Set(values.requestIds)];
};

/** POST /v1/generations/bulk-delete. 200 with the outcome of each id; 400. */
export const handler = apiHandler(async (request) => {
  const account = await authorize(identifyCaller(request), 'generations:write', request.now);
  const requestIds = checkAll(
    () => readRequestIds(request),
    () => request.query({}),
  );
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
