import type { VideoExtension } from './file-types.ts';
import { readIsobmffIndex } from './isobmff.ts';
import { docTypeOf, readMatroskaIndex } from './matroska.ts';
import {
  asBuffer,
  inWindows,
  type RandomAccessFile,
  UnreadableVideoError,
  type VideoIndex,
} from './video-bytes.ts';

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
  const { type, seconds, width, height } = await readVideo(file);
  return { ...type, durationSec: durationOf(seconds), ...(width && height ? { width, height } : {}) };
};

/** A clip that is billed by its length. */
export interface ClipMeasurement extends VideoType {
  /** Seconds, rounded to milliseconds. */
  durationSec: number;
}

/**
 * Tolerance for frames that an edit list hides, but a player may show: the decoder needs them before the
 * first shown frame.
 */
const EDIT_SLACK_SECONDS = 0.25;
/** More than the fastest cameras of phones record. */
const MAX_FRAMES_PER_SECOND = 300;

/**
 * Measures a video as `measureVideo` does, but returns the longest duration that a player may show: the
 * sender pays by length, and its provider may read the file in another way. Stops reading once the video is
 * longer than `enoughSeconds`. Throws `UnreadableVideoError`, also above 300 pictures a second.
 */
export const measureClip = async (
  file: RandomAccessFile,
  enoughSeconds = Number.POSITIVE_INFINITY,
): Promise<ClipMeasurement> => {
  const { type, seconds, mediaSeconds, frames } = await readVideo(file, enoughSeconds);
  const longest = mediaSeconds > seconds + EDIT_SLACK_SECONDS ? mediaSeconds : seconds;
  if (frames - 1 > longest * MAX_FRAMES_PER_SECOND)
    throw new UnreadableVideoError('has too many pictures a second');
  return { ...type, durationSec: durationOf(longest) };
};

const readVideo = async (
  file: RandomAccessFile,
  enoughSeconds = Number.POSITIVE_INFINITY,
): Promise<VideoIndex & { type: VideoType }> => {
  const windows = inWindows(file);
  const head = await windows.read(0, VIDEO_HEAD_BYTES);
  const type = videoTypeOf(head);
  if (!type) throw new UnreadableVideoError('is not an MP4, QuickTime or WebM video');
  return { type, ...(await readIndexOf(type, windows, enoughSeconds)) };
};

const durationOf = (seconds: number): number => {
  const durationSec = Math.round(seconds * 1_000) / 1_000;
  if (!Number.isFinite(durationSec) || durationSec <= 0) throw new UnreadableVideoError('has no duration');
  return durationSec;
};

const readIndexOf = async (type: VideoType, file: RandomAccessFile, enoughSeconds: number) => {
  try {
    return await (type === WEBM || type === MATROSKA
      ? readMatroskaIndex(file, enoughSeconds)
      : readIsobmffIndex(file, enoughSeconds));
  } catch (error) {
    if (!BEYOND_BYTES.has((error as { code?: unknown }).code)) throw error;
    throw new UnreadableVideoError('is damaged', { cause: error });
  }
};
