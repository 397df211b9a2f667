import { FILE_EXTENSIONS } from '../media/file-types.ts';
import { clipsOf, maxOutputs, type StoredRequest } from '../requests/request-rules.ts';
import { outputObjectKey } from '../table/keys.ts';

/**
 * The keys of all files that a request may have in the bucket: those of its record and, for every other output it
 * could have, each name under which an interrupted storing may have left one; and the copies of its reference videos. Removing them takes no listing.
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
  return [...outputs.flat(), ...clipsOf(request)];
};
