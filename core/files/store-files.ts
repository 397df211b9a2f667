import { ImageEnd } from '@generation-service/media/image-end';
import { type ImageMeasurement, measureImage } from '@generation-service/media/measure-image';
import type { VideoMeasurement } from '@generation-service/media/spooled-video';
import {
  CUT_OFF,
  DAMAGED,
  UnreadableVideoError,
  VIDEO_HEAD_BYTES,
  type VideoType,
  videoTypeOf,
} from '@generation-service/media/video-type';
import { FileUnavailableError } from '../guarded-http/http-files.ts';
import { uploadBucket } from './bucket.ts';
import { type FileKind, uploadFile, uploadVideo } from './upload.ts';

/** The first bytes of PNG, JPEG and WebP. */
const IMAGE_SIGNATURES = /^(\x89PNG|\xff\xd8\xff|RIFF[\s\S]{4}WEBP)/;

const IMAGES: FileKind<ImageMeasurement> = {
  recognize: measureImage,
  // JPEG metadata ahead of the size can be long; other headers fit in a few kilobytes.
  maxHeadBytes: 1024 * 1024,
  // About four times a 16-megapixel PNG of noise.
  maxBytes: 256 * 1024 * 1024,
  unrecognized: 'The file is not a PNG, JPEG or WebP image.',
  tooLarge: 'The image file is too large.',
  ends: {
    endOf: ({ extension }) => new ImageEnd(extension),
    isBegun: (head) => IMAGE_SIGNATURES.test(Buffer.from(head.subarray(0, 12)).toString('latin1')),
    cutOff: 'The image is cut off.',
  },
};

const VIDEOS: FileKind<VideoType> = {
  recognize: videoTypeOf,
  maxHeadBytes: VIDEO_HEAD_BYTES,
  // Half a minute at 500 Mbit/s, far above what a provider delivers in 4k.
  maxBytes: 2 * 1024 * 1024 * 1024,
  unrecognized: 'The file is not an MP4, QuickTime or WebM video.',
  tooLarge: 'The video file is too large.',
};

/** The place of a stored file. */
interface Stored {
  objectKey: string;
  sizeBytes: number;
  /** Whether the file carries a C2PA manifest, which nothing verifies; absent for none. */
  hasManifest?: true;
}

/**
 * Streams an image into the bucket. `keyOf` builds the object key once the image is measured; storing again
 * replaces it. Throws `FileUnavailableError` when the file is not a supported image, too large or not whole, and leaves no object then.
 */
export const storeImage = async (
  body: AsyncIterable<Uint8Array>,
  keyOf: (image: ImageMeasurement) => string,
): Promise<ImageMeasurement & Stored> => {
  const { fileType, ...stored } = await uploadFile(body, IMAGES, keyOf, { client: uploadBucket() });
  return { ...fileType, ...stored };
};

/** Measuring 2 GiB takes a few seconds. */
const MEASURE_MS = 60_000;

/** Problems of a video that the transfer may have caused. */
const HARMED = new Set([CUT_OFF, DAMAGED]);

/**
 * Streams a video into the bucket, as `storeImage` does an image, and measures it. Throws
 * `FileUnavailableError` when the file is not a supported video, is too large, or its duration cannot be
 * determined, and leaves no object then.
 */
export const storeVideo = async (
  body: AsyncIterable<Uint8Array>,
  keyOf: (type: VideoType) => string,
): Promise<VideoType & Omit<VideoMeasurement, 'longestSec' | 'framesPerSecond'> & Stored> => {
  try {
    const { type, measured, ...stored } = await uploadVideo(body, VIDEOS, keyOf, {
      client: uploadBucket(),
      measure: (video) => video.measure(AbortSignal.timeout(MEASURE_MS)),
    });
    const { longestSec: _, framesPerSecond: __, ...shown } = measured;
    return { ...type, ...shown, ...stored };
  } catch (error) {
    if (!(error instanceof UnreadableVideoError)) throw error;
    throw new FileUnavailableError(
      `The video ${error.message}.`,
      HARMED.has(error.message) ? 'cut-off' : 'final',
      error,
    );
  }
};
