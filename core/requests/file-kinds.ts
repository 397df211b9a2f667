import { FILE_EXTENSIONS } from '@generation-service/media/file-types';
import { CLIP_PREFIX, OUTPUT_PREFIX, outputObjectKey, possibleClips, UPLOAD_PREFIX } from '../object-keys.ts';
import { inputFilesOf } from './input-files.ts';
import { clipsOf, maxOutputs, type StoredRequest } from './request-rules.ts';

/** A kind of file that requests have in the bucket. */
interface FileKind {
  prefix: string;
  /** The keys on the record of a request. */
  recordedOf: (request: StoredRequest) => string[];
  /** The keys of all files that a request itself may have stored, recorded or not. A file that it only names is none. */
  possibleOf: (request: StoredRequest) => string[];
}

/**
 * An output on the record has a known key. For other outputs, an interrupted attempt to store may have left a file with any
 * extension of the kind.
 */
const OUTPUTS: FileKind = {
  prefix: OUTPUT_PREFIX,
  recordedOf: ({ outputs = [] }) => outputs.flatMap(({ objectKey }) => objectKey ?? []),
  possibleOf: (request) => {
    const recorded = new Map((request.outputs ?? []).map(({ index, objectKey }) => [index, objectKey]));
    return Array.from({ length: maxOutputs(request) }, (_, index) => {
      const objectKey = recorded.get(index);
      if (objectKey !== undefined) return [objectKey];
      return FILE_EXTENSIONS[request.kind].map((extension) =>
        outputObjectKey(request.requestId, index, extension),
      );
    }).flat();
  },
};

/** Copies of reference videos: a repeated creation may have found another container at the caller's URL. */
const CLIPS: FileKind = {
  prefix: CLIP_PREFIX,
  recordedOf: (request) => [...clipsOf(request)],
  possibleOf: (request) => possibleClips(request.requestId, clipsOf(request).length),
};

/**
 * Uploads that a request names. Uploads are the caller's own files, removed only when the caller deletes a request: several
 * requests may name the same upload.
 */
const UPLOADS: FileKind = {
  prefix: UPLOAD_PREFIX,
  recordedOf: (request) =>
    inputFilesOf(request).flatMap(({ url }) => (url.startsWith(UPLOAD_PREFIX) ? [url] : [])),
  possibleOf: () => [],
};

/** Every kind of file in the bucket that belongs to a caller. All removals go by this list. */
export const FILE_KINDS: readonly FileKind[] = [OUTPUTS, CLIPS, UPLOADS];

/** The keys of the files that a request's record names, which are deleted with the request. */
export const filesDeletedWith = (request: StoredRequest): string[] =>
  FILE_KINDS.flatMap(({ recordedOf }) => recordedOf(request));

/** The keys of every file that a request may have stored, for a removal without a listing. */
export const possibleFilesOf = (request: StoredRequest): string[] =>
  FILE_KINDS.flatMap(({ possibleOf }) => possibleOf(request));

/** The keys of every copy of a reference video that a request may have. */
export const possibleClipsOf = CLIPS.possibleOf;
