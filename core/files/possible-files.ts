import { FILE_EXTENSIONS } from '@generation-service/media/file-types';
import { clipsOf, maxOutputs, type StoredRequest } from '../requests/request-rules.ts';
import { outputObjectKey } from '../table/keys.ts';
import { possibleClips } from './clip-keys.ts';

/**
 * The object keys of all copies of its reference videos that a request may have in the bucket: a repeated creation may
 * have found another container at the caller's URL.
 */
export const possibleClipsOf = (request: StoredRequest): string[] =>
  possibleClips(request.requestId, clipsOf(request).length);

/**
 * The object keys of all files that a request may have in the bucket, so that they can be removed without a
 * listing. Outputs on its record have a known key; for any other output, an interrupted attempt to store it
 * may have left a file with any extension of its kind. Includes the copies of its reference videos.
 */
export const possibleFilesOf = (request: StoredRequest): string[] => {
  const recorded = new Map((request.outputs ?? []).map(({ index, objectKey }) => [index, objectKey]));
  const outputs = Array.from({ length: maxOutputs(request) }, (_, index) => {
    const objectKey = recorded.get(index);
    if (objectKey !== undefined) return [objectKey];
    return FILE_EXTENSIONS[request.kind].map((extension) =>
      outputObjectKey(request.requestId, index, extension),
    );
  });
  return [...outputs.flat(), ...possibleClipsOf(request)];
};
