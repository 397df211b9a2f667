import { imageSize } from 'image-size';

/** What the first bytes of an image file say about it. */
export interface ImageFacts {
  width: number;
  height: number;
  contentType: string;
  extension: string;
}

/** Image types that are delivered, by the name `image-size` gives them. */
const FORMATS: Record<string, { contentType: string; extension: string }> = {
  png: { contentType: 'image/png', extension: 'png' },
  jpg: { contentType: 'image/jpeg', extension: 'jpg' },
  webp: { contentType: 'image/webp', extension: 'webp' },
};

/** The longest header of a fixed place, a lossless WebP's, ends here: the library takes missing bytes of it for 0. */
const MIN_HEAD_BYTES = 25;

/**
 * Type and pixel size of an image from its first bytes; undefined while they say too little, or when they
 * are of no image type that is delivered.
 */
export const readImageFacts = (head: Uint8Array): ImageFacts | undefined => {
  if (head.byteLength < MIN_HEAD_BYTES) return undefined;
  try {
    // A copy of its own: of a part of a larger buffer, the library reads on into what lies behind it.
    const { width, height, type } = imageSize(new Uint8Array(head));
    const format = FORMATS[type ?? ''];
    return format && width > 0 && height > 0 ? { width, height, ...format } : undefined;
  } catch (error) {
    // The library throws for unknown types and for headers that are cut off: both say "not known yet".
    if (error instanceof Error) return undefined;
    throw error;
  }
};
