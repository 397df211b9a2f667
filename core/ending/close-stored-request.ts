import { possibleClipsOf } from '../files/possible-files.ts';
import { removeFilesOf } from '../files/remove-files.ts';
import { closeRequest, type Settling } from './close-request.ts';

/** Closes a terminal request that may have files. Those of a failed request are removed first. Returns as `closeRequest`. */
export const closeStoredRequest = (
  requestId: string,
  settling: Omit<Settling, 'files'> = {},
): Promise<boolean> =>
  closeRequest(requestId, {
    ...settling,
    files: async (request) =>
      request.status === 'failed' ? (await removeFilesOf(request, possibleClipsOf(request))).complete : true,
  });
