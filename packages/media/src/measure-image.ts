import { imageSize } from 'image-size';
import type { ImageExtension } from './file-types.ts';

/** Size in pixels and type of an image file. */
export interface ImageMeasurement {
  width: number;
  height: number;
  contentType: string;
  extension: ImageExtension;
}

/** Supported image types, by their names in `image-size`. */
const FORMATS: Record<string, { contentType: string; extension: ImageExtension }> = {
  png: { contentType: 'image/png', extension: 'png' },
  jpg: { contentType: 'image/jpeg', extension: 'jpg' },
  webp: { contentType: 'image/webp', extension: 'webp' },
};

/** Ends the longest fixed header, that of a lossless WebP. The library reads missing bytes as 0. */
const MIN_HEAD_BYTES = 25;

/**
 * Measures an image by its first bytes; undefined when they are too few, or not those of a supported image
 * type.
 */
export const measureImage = (head: Uint8Array): ImageMeasurement | undefined => {
  if (head.byteLength < MIN_HEAD_BYTES) return undefined;
  try {
    // A copy, because the library reads past the end of a view into a larger buffer.
    const { width, height, type } = imageSize(new Uint8Array(head));
    const format = FORMATS[type ?? ''];
    return format && width > 0 && height > 0 ? { width, height, ...format } : undefined;
  } catch (error) {
    // The library throws for unknown types and for truncated headers.
    if (error instanceof Error) return undefined;
    throw error;
  }
};
