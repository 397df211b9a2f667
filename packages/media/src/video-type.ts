import type { VideoExtension } from './file-types.ts';

/** The type of a video file. */
export interface VideoType {
  contentType: string;
  extension: VideoExtension;
}

/** Not a video, or its duration cannot be determined. The message completes "the file …". */
export class UnreadableVideoError extends Error {
  override name = 'UnreadableVideoError';
}

/** The message for a file of which the end is missing. */
export const CUT_OFF = 'is cut off';
/** The message for a complete file that FFmpeg cannot read to its end. */
export const DAMAGED = 'is damaged';

const MP4: VideoType = { contentType: 'video/mp4', extension: 'mp4' };
const QUICKTIME: VideoType = { contentType: 'video/quicktime', extension: 'mov' };
const WEBM: VideoType = { contentType: 'video/webm', extension: 'webm' };
const MATROSKA: VideoType = { contentType: 'video/x-matroska', extension: 'mkv' };

/** First bytes of a file that suffice to recognize its type. */
export const VIDEO_HEAD_BYTES = 4_096;
/** The id of the header of a Matroska file (RFC 9559, 4.1). */
const EBML = 0x1a45dfa3;
/** Its element `DocType`: the id, a length of 1 to 8 bytes and the name. */
const DOC_TYPE = /\x42\x82[\s\S]{1,8}?(webm|matroska)/;

/**
 * First boxes of QuickTime files without `ftyp`, which came with MP4: those of older cameras and editors (QuickTime File Format
 * Specification, "Movie Atoms" and "Free Space Atoms"), as FFmpeg knows them.
 */
const OLD_QUICKTIME = new Set([
  'moov',
  'mdat',
  'wide',
  'free',
  'skip',
  'junk',
  'pnot',
  'PICT',
  'pict',
  'udta',
  'uuid',
]);

/** The type of a video file by its first bytes; undefined when they are too few, or not those of a video. */
export const videoTypeOf = (head: Uint8Array): VideoType | undefined => {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, VIDEO_HEAD_BYTES));
  if (bytes.byteLength < 12) return undefined;
  const box = bytes.toString('latin1', 4, 8);
  if (OLD_QUICKTIME.has(box)) return QUICKTIME;
  if (box === 'ftyp') return bytes.toString('latin1', 8, 12) === 'qt  ' ? QUICKTIME : MP4;
  if (bytes.readUInt32BE(0) !== EBML) return undefined;
  const docType = DOC_TYPE.exec(bytes.toString('latin1'))?.[1];
  if (docType === undefined) return undefined;
  return docType === 'webm' ? WEBM : MATROSKA;
};
