import { FILE_EXTENSIONS, type VideoExtension } from '@generation-service/media/file-types';
import { clipObjectKey } from '../table/keys.ts';

/** The key of each copied reference video, in their order. */
export const clipKeys = (requestId: string, extensions: readonly VideoExtension[]): string[] =>
  extensions.map((extension, index) => clipObjectKey(requestId, index, extension));

/** Every key that copies of this many reference videos may have. Removing them takes no listing. */
export const possibleClips = (requestId: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) =>
    FILE_EXTENSIONS.video.map((extension) => clipObjectKey(requestId, index, extension)),
  ).flat();
