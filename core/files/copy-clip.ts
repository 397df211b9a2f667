import { FileUnavailableError, openFile } from '../guarded-http/http-files.ts';
import {
  type ClipMeasurement,
  measureClip,
  VIDEO_HEAD_BYTES,
  type VideoType,
  videoTypeOf,
} from '../media/measure-video.ts';
import { StreamedFile } from '../media/streamed-file.ts';
import { clipBucket } from './clip-bucket.ts';
import { type FileKind, uploadFile } from './upload.ts';

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

/** How a clip is copied. */
export interface ClipCopy {
  url: string;
  keyOf: (type: VideoType) => string;
  longestSeconds: number;
  signal: AbortSignal;
}

/**
 * Copies a video at a caller's URL into the bucket and measures the same bytes on the way, so that the
 * measured file is the stored file. Fetches it once, up to 100 MiB, with a few parts of 5 MiB in memory, and
 * stops once it is known to be too long. Throws `UnreadableVideoError`, `ClipNotCopiedError` when it cannot
 * be fetched, `ClipTooLongError`, and the errors of the bucket. Leaves no object when it throws.
 */
export const copyClip = async ({
  url,
  keyOf,
  longestSeconds,
  signal,
}: ClipCopy): Promise<ClipMeasurement> => {
  const body = await openFile(url, signal).catch((error: unknown) => {
    throw new ClipNotCopiedError('could not be fetched', { cause: error });
  });
  const file = new StreamedFile();
  const measuring = measureClip(file, longestSeconds)
    .then((clip) => {
      if (clip.durationSec > longestSeconds) throw new ClipTooLongError(clip.durationSec);
      return clip;
    })
    .finally(() => file.release());
  const [measured, uploaded] = await Promise.allSettled([
    measuring,
    uploadFile(passing(body, file, measuring), CLIPS, keyOf, { client: clipBucket, signal }),
  ]);
  // Refusing a clip fails its upload too, so the reason of the refusal comes first. A failed upload ends the
  // measuring.
  if (measured.status === 'rejected' && !(measured.reason instanceof UploadEndedError)) throw measured.reason;
  if (uploaded.status === 'rejected') throw asClipError(uploaded.reason);
  if (measured.status === 'rejected') throw measured.reason;
  return measured.value;
};

/** The upload ended before the file did. */
class UploadEndedError extends Error {
  override name = 'UploadEndedError';
}

/** The bytes of a file on their way to the bucket, read as they pass. It ends only once the file is measured. */
const passing = async function* (
  body: AsyncIterable<Uint8Array>,
  file: StreamedFile,
  measuring: Promise<unknown>,
): AsyncGenerator<Uint8Array> {
  let refusal: { error: unknown } | undefined;
  measuring.catch((error: unknown) => {
    refusal = { error };
  });
  try {
    for await (const chunk of fetched(body)) {
      await file.push(chunk);
      if (refusal) throw refusal.error;
      yield chunk;
    }
    file.end();
    await measuring;
  } catch (error) {
    file.fail(error);
    throw error;
  } finally {
    file.fail(new UploadEndedError('The upload ended before the file did.'));
  }
};

/** The bytes that a server sends. Throws `ClipNotCopiedError` where it breaks off. */
const fetched = async function* (body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { value, done } = await chunks.next().catch((error: unknown) => {
        throw new ClipNotCopiedError('could not be fetched', { cause: error });
      });
      if (done) return;
      yield value;
    }
  } finally {
    await chunks.return?.();
  }
};

/** A file that `uploadFile` does not take, as a problem of the clip. */
const asClipError = (error: unknown): unknown =>
  error instanceof FileUnavailableError ? new ClipNotCopiedError(error.message, { cause: error }) : error;
