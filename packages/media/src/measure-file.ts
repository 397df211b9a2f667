import type { BoundedLibav } from './libav.ts';
import { type Demuxer, readVideo, type VideoMeasurement } from './read-video.ts';
import { DAMAGED, UnreadableVideoError } from './video-type.ts';
import { type ReadAt, readWholeBoxes, requireWholeSegment, type WholeBoxes } from './wholeness.ts';

/** The measurement of a file, or its problem, which completes "the file …". */
export type VideoAnswer = { measurement: VideoMeasurement } | { problem: string };

/** Bytes read of the file at once. */
const WINDOW_BYTES = 256 * 1024;
const NAME = 'video';

/**
 * Measures a file with a library loaded for this file alone: a hostile file may damage the library's memory. Never
 * rejects; an error of `readAt` reads like a damaged file.
 */
export const measureFile = async (
  { libav, wasRefusedMemory }: BoundedLibav,
  readAt: ReadAt,
  sizeBytes: number,
  demuxer: Demuxer,
): Promise<VideoAnswer> => {
  libav.onblockread = (name, position, length) =>
    libav.ff_block_reader_dev_send(name, position, readAt(position, Math.max(length, WINDOW_BYTES)));
  const measure = async (): Promise<VideoAnswer> => {
    try {
      let said: WholeBoxes = { seconds: 0, neededSamples: [], hasManifest: false };
      if (demuxer === 'mov') said = readWholeBoxes(readAt, sizeBytes);
      else requireWholeSegment(readAt, sizeBytes);
      libav.mkblockreaderdev(NAME, sizeBytes);
      return { measurement: await readVideo(libav, NAME, demuxer, said) };
    } catch (error) {
      // Anything else comes from the library, in which a hostile file may break anything.
      return { problem: error instanceof UnreadableVideoError ? error.message : DAMAGED };
    }
  };
  const answer = await measure();
  return wasRefusedMemory() ? { problem: 'takes too much memory to read' } : answer;
};
