import { deleteRequest } from '../../core/deletion/delete-requests.ts';
import { ConflictError, NotFoundError } from '../../core/errors.ts';
import { requestKindOf } from '../../core/ids.ts';
import type { DeletedRequestAnswer } from '../../core/requests/deletion-answers.ts';
import { apiHandler, json } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';

/** DELETE /v1/generations/{requestId}. 200 with the number of files removed; 404; 409 while it is queued or processing. */
export const handler = apiHandler(async (request) => {
  const account = await authorize(identifyCaller(request), 'generations:write', request.now);
  request.query({});
  const requestId = request.pathParameter('requestId');
  const deletion = requestKindOf(requestId)
    ? await deleteRequest(account.accountId, requestId, request.now)
    : ({ outcome: 'not_found' } as const);
  if (deletion.outcome === 'not_found') throw new NotFoundError('There is no such generation.');
  if (deletion.outcome === 'conflict') throw new ConflictError('This generation is queued or processing.');
  const { removedObjects } = deletion;
  return json(200, { requestId, deleted: true, removedObjects } satisfies DeletedRequestAnswer);
});
