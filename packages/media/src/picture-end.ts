import { ImageEnd } from './image-end.ts';

/** Whether a measured image has its end. That of a TIFF is not looked for: its parts lie in any order. */
export const hasPictureEnd = (contentType: string, bytes: Uint8Array): boolean => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const ends = ENDS[contentType];
  return ends === undefined || ends(file);
};

const endsAs =
  (extension: 'png' | 'jpg' | 'webp') =>
  (file: Buffer): boolean => {
    const end = new ImageEnd(extension);
    end.take(file);
    return end.isWhole();
  };

const [GIF_IMAGE, GIF_EXTENSION] = [0x2c, 0x21];
const GIF_FIRST_TABLE = 13;

/** Passes over the blocks of a GIF (GIF89a, Appendix A). Some writers leave the last one out, and add bytes of their own. */
const endsAsGif = (file: Buffer): boolean => {
  const tableBytes = (flags = 0): number => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));
  let at = GIF_FIRST_TABLE + tableBytes(file[10]);
  for (let hasImage = false; ; ) {
    const kind = file[at];
    if (kind !== GIF_IMAGE && kind !== GIF_EXTENSION) return hasImage;
    at += kind === GIF_IMAGE ? 11 + tableBytes(file[at + 9]) : 2;
    for (let length = file[at]; length !== 0; length = file[at]) {
      if (length === undefined) return false;
      at += 1 + length;
    }
    at += 1;
    hasImage ||= kind === GIF_IMAGE;
  }
};

/** The least bytes of a bitmap's headers, and those of the header of OS/2, whose sides have 16 bits. */
const [BMP_HEADERS, BMP_OS2_HEADER] = [54, 12];
/** Compressions with a size of their own: run lengths, JPEG and PNG. */
const BMP_COMPRESSED = new Set([1, 2, 4, 5]);

/** Whether the rows of a bitmap are in the file; some writers state a wrong size of the file. */
const endsAsBmp = (file: Buffer): boolean => {
  if (file.length < BMP_HEADERS) return false;
  const start = file.readUInt32LE(10);
  if (file.readUInt32LE(14) === BMP_OS2_HEADER)
    return (
      start + rowBytes(file.readUInt16LE(18), file.readUInt16LE(24)) * file.readUInt16LE(20) <= file.length
    );
  const isCompressed = BMP_COMPRESSED.has(file.readUInt32LE(30));
  const rows = rowBytes(file.readInt32LE(18), file.readUInt16LE(28)) * Math.abs(file.readInt32LE(22));
  return start + (isCompressed ? file.readUInt32LE(34) : rows) <= file.length;
};

const rowBytes = (width: number, bits: number): number => Math.ceil((width * bits) / 32) * 4;

/** Passes over the outermost boxes of a HEIF (ISO/IEC 14496-12, 4.2). */
const endsAsHeif = (file: Buffer): boolean => {
  for (let at = 0; at + 8 <= file.length; ) {
    const size = file.readUInt32BE(at);
    if (size === 0) return true;
    const isLong = size === 1 && at + 16 <= file.length;
    const length = isLong ? Number(file.readBigUInt64BE(at + 8)) : size;
    if (length < 8 || at + length > file.length) return false;
    at += length;
  }
  return true;
};

const ENDS: Record<string, (file: Buffer) => boolean> = {
  'image/png': endsAs('png'),
  'image/jpeg': endsAs('jpg'),
  'image/webp': endsAs('webp'),
  'image/gif': endsAsGif,
  'image/bmp': endsAsBmp,
  'image/heic': endsAsHeif,
  'image/heif': endsAsHeif,
};
