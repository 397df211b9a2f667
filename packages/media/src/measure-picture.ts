import { imageSize } from 'image-size';

/** The facts of an image that is an input. `hasAlpha` is of a PNG: an alpha channel, or a transparent colour. */
export interface PictureMeasurement {
  contentType: string;
  width: number;
  height: number;
  hasAlpha: boolean;
}

/** Content types by the names of `image-size`. AVIF is not among them: no provider takes it. */
const CONTENT_TYPES: Record<string, string> = {
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  bmp: 'image/bmp',
  tiff: 'image/tiff',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
};

/** Measures an image by its bytes; undefined for a file of no type that a provider takes, or whose header is damaged. */
export const measurePicture = (bytes: Uint8Array): PictureMeasurement | undefined => {
  try {
    // A copy, because the library reads past the end of a view into a larger buffer.
    const { width, height, type = '' } = imageSize(new Uint8Array(bytes));
    const contentType = Object.hasOwn(CONTENT_TYPES, type) ? CONTENT_TYPES[type] : undefined;
    if (contentType === undefined || !(width > 0 && height > 0)) return undefined;
    return { contentType, width, height, hasAlpha: type === 'png' && hasAlphaIn(Buffer.from(bytes)) };
  } catch (error) {
    // The library throws for unknown types and for truncated headers.
    if (error instanceof Error) return undefined;
    throw error;
  }
};

/** Where the colour type of a PNG is, and its bit for an alpha channel (PNG, 11.2.1). */
const PNG_COLOR_TYPE = 25;
const ALPHA = 4;
const PNG_FIRST_CHUNK = 8;
const CHUNK_OVERHEAD = 12;

/** Whether a PNG has an alpha channel, or a chunk `tRNS` before its data. */
const hasAlphaIn = (png: Buffer): boolean => {
  if (((png[PNG_COLOR_TYPE] ?? 0) & ALPHA) !== 0) return true;
  for (let at = PNG_FIRST_CHUNK; at + 8 <= png.length; at += CHUNK_OVERHEAD + png.readUInt32BE(at)) {
    const type = png.toString('latin1', at + 4, at + 8);
    if (type === 'tRNS') return true;
    if (type === 'IDAT') return false;
  }
  return false;
};
