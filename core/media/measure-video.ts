import type { VideoExtension } from './file-types.ts';
import { readIsobmffIndex } from './isobmff.ts';
import { docTypeOf, readMatroskaIndex } from './matroska.ts';
import { asBuffer, inWindows, type RandomAccessFile, UnreadableVideoError } from './video-bytes.ts';

/** The type of a video file. */
export interface VideoType {
  contentType: string;
  extension: VideoExtension;
}

/** Type, duration and size in pixels of a video file. */
export interface VideoMeasurement extends VideoType {
  /** Seconds, rounded to milliseconds. */
  durationSec: number;
  width?: number;
  height?: number;
}

const MP4: VideoType = { contentType: 'video/mp4', extension: 'mp4' };
const QUICKTIME: VideoType = { contentType: 'video/quicktime', extension: 'mov' };
const WEBM: VideoType = { contentType: 'video/webm', extension: 'webm' };
const MATROSKA: VideoType = { contentType: 'video/x-matroska', extension: 'mkv' };

/** Node's error codes for reading past the end of a buffer. */
const BEYOND_BYTES = new Set<unknown>(['ERR_OUT_OF_RANGE', 'ERR_BUFFER_OUT_OF_BOUNDS']);

/** First bytes of a file that suffice to recognize its type. */
export const VIDEO_HEAD_BYTES = 4_096;

/** The type of a video file by its first bytes; undefined when they are too few, or not those of a video. */
export const videoTypeOf = (head: Uint8Array): VideoType | undefined => {
  const bytes = asBuffer(head);
  if (bytes.byteLength >= 12 && bytes.toString('latin1', 4, 8) === 'ftyp')
    return bytes.toString('latin1', 8, 12) === 'qt  ' ? QUICKTIME : MP4;
  const docType = docTypeOf(bytes);
  if (docType === 'webm') return WEBM;
  return docType === 'matroska' ? MATROSKA : undefined;
};

/**
 * Measures a video by reading only its index. Throws `UnreadableVideoError` when the file is not a video, is
 * truncated, or its duration cannot be determined. Errors of `file` pass through.
 */
export const measureVideo = async (file: RandomAccessFile): Promise<VideoMeasurement> => {
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
