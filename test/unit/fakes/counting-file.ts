import { measureVideo, type VideoMeasurement } from '../../../core/media/measure-video.ts';
import type { RandomAccessFile } from '../../../core/media/video-bytes.ts';

/** A file in memory that counts what is read of it, and may keep its size to itself. */
export class CountingFile implements RandomAccessFile {
  reads = 0;
  bytesRead = 0;
  private readonly bytes: Uint8Array;
  private readonly toldSize: number | undefined;

  constructor(bytes: Uint8Array, toldSize: number | 'unknown' = bytes.byteLength) {
    this.bytes = bytes;
    this.toldSize = toldSize === 'unknown' ? undefined : toldSize;
  }

  sizeBytes(): number | undefined {
    return this.toldSize;
  }

  async read(start: number, end: number): Promise<Uint8Array> {
    const part = this.bytes.subarray(start, end);
    this.reads++;
    this.bytesRead += part.byteLength;
    return part;
  }
}

/** What a file in memory measures. */
export const measure = (bytes: Uint8Array): Promise<VideoMeasurement> =>
  measureVideo(new CountingFile(bytes));

/** How long a file in memory is. */
export const secondsOf = async (bytes: Uint8Array): Promise<number> => (await measure(bytes)).durationSec;

/** Where the size of a box stands, by where its content does. */
export const sizeBefore = (content: number): number => content - 8;
