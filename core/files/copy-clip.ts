import { VIDEO_HEAD_BYTES, type VideoType, videoTypeOf } from '@generation-service/media/video-type';
import { FileUnavailableError } from '../guarded-http/http-files.ts';
import { clipBucket } from './bucket.ts';
import { FileNotFetchedError, fetchedBytes } from './fetch-file.ts';
import { type FileKind, uploadVideo } from './upload.ts';

/** The most bytes of a reference video: the limit of Wan 3.0, "<= 100 MB" (Model Studio, Wan 3.0 video generation). */
const MAX_CLIP_BYTES = 100 * 1024 * 1024;

const CLIPS: FileKind<VideoType> = {
  recognize: videoTypeOf,
  maxHeadBytes: VIDEO_HEAD_BYTES,
  maxBytes: MAX_CLIP_BYTES,
  unrecognized: 'is not a video that can be read',
  tooLarge: 'is larger than 100 MB',
};

/** The clip is longer than allowed, and was not copied. */
export class ClipTooLongError extends Error {
  override name = 'ClipTooLongError';
  readonly durationSec: number;
  readonly contentType: string;

  constructor(durationSec: number, contentType: string) {
    super(`The clip is ${durationSec} s long.`);
    this.durationSec = durationSec;
    this.contentType = contentType;
  }
}

interface ClipCopy {
  url: string;
  keyOf: (type: VideoType) => string;
  longestSeconds: number;
  signal: AbortSignal;
}

interface CopiedClip extends VideoType {
  /** The billed length: the longest duration that a player may show. Seconds, rounded to milliseconds. */
  durationSec: number;
  sizeBytes: number;
  width?: number;
  height?: number;
  framesPerSecond: number;
}

/**
 * Copies a video at a caller's URL into the bucket and measures the same bytes, so that the measured file is the stored file.
 * Fetches the video once, up to 100 MiB, with a few parts of 5 MiB in memory. Throws `UnreadableVideoError`,
 * `FileNotFetchedError` for a failed fetch or a file of another kind, `ClipTooLongError`, and the errors of the bucket. A throw
 * leaves no object.
 */
export const copyClip = async ({ url, keyOf, longestSeconds, signal }: ClipCopy): Promise<CopiedClip> => {
  try {
    let contentType = '';
    const key = (type: VideoType): string => {
      contentType = type.contentType;
      return keyOf(type);
    };
    const { type, measured, sizeBytes } = await uploadVideo(fetchedBytes(url, signal), CLIPS, key, {
      client: clipBucket(),
      signal,
      measure: async (video) => {
        const measurement = await video.measure(signal);
        const { longestSec } = measurement;
        if (longestSec > longestSeconds) throw new ClipTooLongError(longestSec, contentType);
        return measurement;
      },
    });
    const { longestSec, durationSec: _, ...facts } = measured;
    return { ...type, ...facts, sizeBytes, durationSec: longestSec };
  } catch (error) {
    // The file is of another kind, or too large.
    if (!(error instanceof FileUnavailableError)) throw error;
    throw new FileNotFetchedError(error.message, undefined, error);
  }
};
