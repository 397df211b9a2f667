import { readIsobmffIndex } from './isobmff.ts';
import { docTypeOf, readMatroskaIndex } from './matroska.ts';
import { asBuffer, inWindows, type RandomAccessFile, UnreadableVideoError } from './video-bytes.ts';

/** The kind of a video file, told by its first bytes. */
export interface VideoType {
  contentType: string;
  extension: string;
}

/** What the bytes of a video file say about it. */
export interface VideoFacts extends VideoType {
  /** In seconds, with milliseconds. */
  durationSec: number;
  width?: number;
  height?: number;
}

const MP4: VideoType = { contentType: 'video/mp4', extension: 'mp4' };
const QUICKTIME: VideoType = { contentType: 'video/quicktime', extension: 'mov' };
const WEBM: VideoType = { contentType: 'video/webm', extension: 'webm' };
const MATROSKA: VideoType = { contentType: 'video/x-matroska', extension: 'mkv' };

/** What Node calls reading a number behind the end of a table. */
const BEYOND_BYTES = new Set<unknown>(['ERR_OUT_OF_RANGE', 'ERR_BUFFER_OUT_OF_BOUNDS']);

/** Within so many first bytes a file tells its type. */
export const VIDEO_HEAD_BYTES = 4_096;

/** The type of a video file from its first bytes; undefined while they are too few, or when they are of no video. */
export const videoTypeOf = (head: Uint8Array): VideoType | undefined => {
  const bytes = asBuffer(head);
  if (bytes.byteLength >= 12 && bytes.toString('latin1', 4, 8) === 'ftyp')
    return bytes.toString('latin1', 8, 12) === 'qt  ' ? QUICKTIME : MP4;
  const docType = docTypeOf(bytes);
  if (docType === 'webm') return WEBM;
  return docType === 'matroska' ? MATROSKA : undefined;
};

/**
 * Type, length and picture size of a video file, of which only the index is read. Throws `UnreadableVideoError`
 * for bytes that are no video, that are cut off, or that tell no length; what `file` throws passes through.
 */
export const measureVideo = async (file: RandomAccessFile): Promise<VideoFacts> => {
  const windows = inWindows(file);
  const head = await windows.read(0, VIDEO_HEAD_BYTES);
  const type = videoTypeOf(head);
  if (!type) throw new UnreadableVideoError('is not an MP4, QuickTime or WebM video');
  const { seconds, ...size } = await readIndexOf(type, windows);
  const durationSec = Math.round(seconds * 1_000) / 1_000;
  if (!Number.isFinite(durationSec) || durationSec <= 0) throw new UnreadableVideoError('has no duration');
  return { ...type, durationSec, ...size };
};

const readIndexOf = async (type: VideoType, file: RandomAccessFile) => {
  try {
    return await (type === WEBM || type === MATROSKA ? readMatroskaIndex(file) : readIsobmffIndex(file));
  } catch (error) {
    if (!BEYOND_BYTES.has((error as { code?: unknown }).code)) throw error;
    throw new UnreadableVideoError('is damaged', { cause: error });
  }
};
