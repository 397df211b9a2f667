import { type ImageFacts, readImageFacts } from '../media/measure-image.ts';
import { VIDEO_HEAD_BYTES, type VideoFacts, type VideoType, videoTypeOf } from '../media/measure-video.ts';
import { UnreadableVideoError } from '../media/video-bytes.ts';
import { FileUnavailableError } from '../outbound/http-files.ts';
import { removeObjects } from './remove-files.ts';
import { measureStoredVideo } from './stored-video.ts';
import { type FileSort, uploadFile } from './upload.ts';

const IMAGES: FileSort<ImageFacts> = {
  recognize: readImageFacts,
  // An image's header lies within its first kilobytes; JPEG metadata before it can be long.
  maxHeadBytes: 1024 * 1024,
  // About four times a 16-megapixel PNG of noise.
  maxBytes: 256 * 1024 * 1024,
  unrecognized: 'The file is not a PNG, JPEG or WebP image.',
  tooLarge: 'The image file is too large.',
};

const VIDEOS: FileSort<VideoType> = {
  recognize: videoTypeOf,
  maxHeadBytes: VIDEO_HEAD_BYTES,
  // Half a minute at 500 Mbit/s, far above what a provider delivers in 4k.
  maxBytes: 2 * 1024 * 1024 * 1024,
  unrecognized: 'The file is not an MP4, QuickTime or WebM video.',
  tooLarge: 'The video file is too large.',
};

/** A stored image, described by its own bytes. */
export interface StoredImage extends ImageFacts {
  objectKey: string;
  sizeBytes: number;
}

/** A stored video, described by its own bytes. */
export interface StoredVideo extends VideoFacts {
  objectKey: string;
  sizeBytes: number;
}

/**
 * Stores an image while it arrives, never holding the whole; `keyOf` names it once the first bytes have told
 * its type. Storing again replaces it. Throws `FileUnavailableError` when the bytes are no image or too many.
 */
export const storeImage = async (
  body: AsyncIterable<Uint8Array>,
  keyOf: (facts: ImageFacts) => string,
): Promise<StoredImage> => {
  const { facts, ...stored } = await uploadFile(body, IMAGES, keyOf);
  return { ...facts, ...stored };
};

/**
 * Stores a video while it arrives, as `storeImage` does an image, and measures what was stored. Throws
 * `FileUnavailableError` when the bytes are no video, too many, or tell no length; what was stored of such a
 * file is removed, as no record names it.
 */
export const storeVideo = async (
  body: AsyncIterable<Uint8Array>,
  keyOf: (type: VideoType) => string,
): Promise<StoredVideo> => {
  const { objectKey, sizeBytes } = await uploadFile(body, VIDEOS, keyOf);
  try {
    return { ...(await measureStoredVideo(objectKey, sizeBytes)), objectKey, sizeBytes };
  } catch (error) {
    if (!(error instanceof UnreadableVideoError)) throw error;
    await removeObjects([objectKey]);
    throw new FileUnavailableError(`The video ${error.message}.`, false, error);
  }
};
