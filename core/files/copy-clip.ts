import { VIDEO_HEAD_BYTES, type VideoType, videoTypeOf } from '@generation-service/media/video-type';
import { FileUnavailableError, openFile } from '../guarded-http/http-files.ts';
import { clipBucket } from './bucket.ts';
import { type FileKind, uploadVideo } from './upload.ts';

/** The most bytes of a reference video: the limit of Wan 3.0, "<= 100 MB" (Model Studio, Wan 3.0 video generation). */
const MAX_CLIP_BYTES = 100 * 1024 * 1024;

const CLIPS: FileKind<VideoType> = {
  recognize: videoTypeOf,
  maxHeadBytes: VIDEO_HEAD_BYTES,
  maxBytes: MAX_CLIP_BYTES,
  unrecognized: 'is not an MP4, QuickTime or WebM video',
  tooLarge: 'is larger than 100 MB',
};

/** A clip that could not be copied. The message completes "the clip …". */
export class ClipNotCopiedError extends Error {
  override name = 'ClipNotCopiedError';
}

/** The clip is longer than allowed, and was not copied. */
export class ClipTooLongError extends Error {
  override name = 'ClipTooLongError';
  readonly durationSec: number;

  constructor(durationSec: number) {
    super(`The clip is ${durationSec} s long.`);
    this.durationSec = durationSec;
  }
}

interface ClipCopy {
  url: string;
  keyOf: (type: VideoType) => string;
  longestSeconds: number;
  signal: AbortSignal;
}

interface CopiedClip extends VideoType {
  /** The longest that a player may take it for: it is billed by its length. Seconds, rounded to milliseconds. */
  durationSec: number;
}

/**
 * Copies a video at a caller's URL into the bucket and measures the same bytes, so that the measured file is the stored file. Fetches
 * it once, up to 100 MiB, with a few parts of 5 MiB in memory. Throws `UnreadableVideoError`, `ClipNotCopiedError` when it cannot
 * be fetched, `ClipTooLongError`, and the errors of the bucket. Leaves no object when it throws.
 */
export const copyClip = async ({ url, keyOf, longestSeconds, signal }: ClipCopy): Promise<CopiedClip> => {
  try {
    const way = { client: clipBucket(), signal };
    const { type, measured } = await uploadVideo(fetched(url, signal), CLIPS, keyOf, way, async (video) => {
      const { longestSec } = await video.measure(signal);
      if (longestSec > longestSeconds) throw new ClipTooLongError(longestSec);
      return longestSec;
    });
    return { ...type, durationSec: measured };
  } catch (error) {
    // The file is of another kind, or too large.
    if (!(error instanceof FileUnavailableError)) throw error;
    throw new ClipNotCopiedError(error.message, { cause: error });
  }
};

/** The bytes that a server sends. Throws `ClipNotCopiedError` where it refuses, or breaks off. */
const fetched = async function* (url: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* await openFile(url, signal);
  } catch (error) {
    throw new ClipNotCopiedError('could not be fetched', { cause: error });
  }
};
