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

/** Outputs on the record have a known key; for any other, an interrupted attempt to store it may have left a file with any extension. */
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

/** Uploads that a request names. They are the caller's until it deletes the request: another request may name them too. */
const UPLOADS: FileKind = {
  prefix: UPLOAD_PREFIX,
  recordedOf: (request) =>
    inputFilesOf(request).flatMap(({ url }) => (url.startsWith(UPLOAD_PREFIX) ? [url] : [])),
  possibleOf: () => [],
};

/** Every kind of file in the bucket that belongs to a caller. All removals go by this list. */
export const FILE_KINDS: readonly FileKind[] = [OUTPUTS, CLIPS, UPLOADS];

/** The keys of all files that go when a request is deleted, as far as its record names them. */
export const filesDeletedWith = (request: StoredRequest): string[] =>
  FILE_KINDS.flatMap(({ recordedOf }) => recordedOf(request));

/** The keys of all files that a request may have stored, so that they can be removed without a listing. */
export const possibleFilesOf = (request: StoredRequest): string[] =>
  FILE_KINDS.flatMap(({ possibleOf }) => possibleOf(request));

/** The keys of all copies of its reference videos that a request may have. */
export const possibleClipsOf = CLIPS.possibleOf;
