import { FILE_EXTENSIONS, type VideoExtension } from '@generation-service/media/file-types';

/** The key of each copied reference video, in their order. */
export const clipKeys = (requestId: string, extensions: readonly VideoExtension[]): string[] =>
  extensions.map((extension, index) => clipObjectKey(requestId, index, extension));

/** Every key that copies of this many reference videos may have. Removing them takes no listing. */
export const possibleClips = (requestId: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) =>
    FILE_EXTENSIONS.video.map((extension) => clipObjectKey(requestId, index, extension)),
  ).flat();

/**
 * The object key of one output. A request's outputs share a prefix, so that they can be found and removed together.
 * File URLs show it, so it holds no account id.
 */
export const outputObjectKey = (requestId: string, index: number, extension: string): string =>
  `${outputObjectPrefix(requestId)}${index}.${extension}`;
/** The name under which an output's file is saved: its item's id with the extension. */
export const outputFileName = (objectKey: string): string => objectKey.split('/').slice(-2).join('_');
export const outputObjectPrefix = (requestId: string): string => `${OUTPUT_PREFIX}${requestId}/`;
export const OUTPUT_PREFIX = 'outputs/';

/** The copy of a request's reference video; `index` counts from 0. */
export const clipObjectKey = (requestId: string, index: number, extension: string): string =>
  `${CLIP_PREFIX}${requestId}/${index}.${extension}`;
export const CLIP_PREFIX = 'clips/';

/** A file that a caller uploads. `owner` stands for the account: URLs show the key. */
export const uploadObjectKey = (owner: string, uploadId: string, extension: string): string =>
  `${UPLOAD_PREFIX}${owner}/${uploadId}.${extension}`;
export const UPLOAD_PREFIX = 'uploads/';
