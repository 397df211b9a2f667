import sharp from 'sharp';

/** An image by its own bytes: format, sides in pixels, and whether it has an alpha channel. */
export type Picture = { format: string; width: number; height: number; hasAlpha: boolean };

/** Brands of the container that HEIF and AVIF share (ISO/IEC 23008-12, AV1 Image File Format). */
const AVIF_BRANDS = /avif|avis/;
const HEIF_BRANDS = /hei[cxms]|hev[cx]/;

/** Reads an image. Rejects when the bytes are none. */
export const readPicture = async (bytes: Uint8Array): Promise<Picture> => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const own = readBmp(file) ?? readHeif(file);
  if (own) return own;
  const {
    format = '',
    width = 0,
    height = 0,
    hasAlpha = false,
  } = await sharp(file, {
    limitInputPixels: false,
  }).metadata();
  return { format, width, height, hasAlpha };
};

/** A BMP, which sharp does not read. */
const readBmp = (file: Buffer): Picture | undefined =>
  file.length >= 26 && file.toString('latin1', 0, 2) === 'BM'
    ? {
        ...{ format: 'bmp', hasAlpha: false },
        ...{ width: Math.abs(file.readInt32LE(18)), height: Math.abs(file.readInt32LE(22)) },
      }
    : undefined;

/** A HEIF or AVIF: sharp calls both `heif`, and does not read the former. Its sides are those of its largest picture. */
const readHeif = (file: Buffer): Picture | undefined => {
  if (file.length < 16 || file.toString('latin1', 4, 8) !== 'ftyp') return undefined;
  const brands = file.toString('latin1', 8, Math.min(file.readUInt32BE(0), file.length));
  const format = AVIF_BRANDS.test(brands) ? 'avif' : HEIF_BRANDS.test(brands) ? 'heif' : undefined;
  if (format === undefined) return undefined;
  const picture = { format, width: 0, height: 0, hasAlpha: false };
  for (let at = file.indexOf('ispe'); at >= 0 && at + 16 <= file.length; at = file.indexOf('ispe', at + 4)) {
    const [width, height] = [file.readUInt32BE(at + 8), file.readUInt32BE(at + 12)];
    if (width * height > picture.width * picture.height) Object.assign(picture, { width, height });
  }
  return picture;
};
