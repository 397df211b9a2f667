import { requiredEnv } from '../../core/environment.ts';
import { NotFoundError } from '../../core/errors.ts';
import { loadUrlSigner } from '../../core/files/signed-urls.ts';
import { type RequestKind, requestKindOf } from '../../core/ids.ts';
import { renderRecord } from '../../core/requests/render-record.ts';
import { isRemoved, type StoredRequest } from '../../core/requests/request-rules.ts';
import { apiHandler } from './api-handler.ts';
import { authorize } from './authorize.ts';
import { json } from './responses.ts';

/**
 * The handler of a record's read. 200 with the record; 404 for what is not a request of this kind of the
 * caller's. `load` gives the request, and `afterwards` what its read sets off before it is answered.
 */
export const recordReader = <Loaded extends { request: StoredRequest | undefined }>(
  kind: RequestKind,
  load: (requestId: string) => Promise<Loaded>,
  afterwards: (request: StoredRequest, loaded: Loaded) => Promise<void> = async () => {},
) =>
  apiHandler(async (request) => {
    const { account, loaded } = await authorize(request, 'generations:read', async () => {
      request.query({});
      const requestId = request.pathParameter('requestId');
      const isOurs = requestKindOf(requestId) === kind;
      return Promise.all([isOurs ? load(requestId) : undefined, loadUrlSigner()]);
    });
    const [found, signUrl] = loaded;
    const stored = found?.request;
    if (!found || stored?.accountId !== account.accountId || isRemoved(stored, request.now)) {
      throw new NotFoundError(`There is no such ${kind === 'image' ? 'generation' : 'video'}.`);
    }
    await afterwards(stored, found);
    const context = { now: request.now, publicBaseUrl: requiredEnv('PUBLIC_BASE_URL'), signUrl };
    return json(200, renderRecord(stored, context));
  });
