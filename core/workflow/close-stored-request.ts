import { removeFilesOf } from '../files/remove-files.ts';
import { closeRequest } from './close-request.ts';

/** Closes a terminal request that may have files. Those of a failed request are removed first. */
export const closeStoredRequest = (requestId: string): Promise<void> =>
  closeRequest(requestId, async (request) =>
    request.status === 'failed' ? (await removeFilesOf(request, [])).complete : true,
  );
