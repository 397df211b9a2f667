import { measureVideo, type VideoMeasurement } from '../../../core/media/measure-video.ts';
import type { RandomAccessFile } from '../../../core/media/video-bytes.ts';

/** A file in memory that counts its reads and may hide its size. */
export class CountingFile implements RandomAccessFile {
  reads = 0;
  bytesRead = 0;
  private readonly bytes: Uint8Array;
  private readonly reportedSize: number | undefined;

  constructor(bytes: Uint8Array, reportedSize: number | 'unknown' = bytes.byteLength) {
    this.bytes = bytes;
    this.reportedSize = reportedSize === 'unknown' ? undefined : reportedSize;
  }

  sizeBytes(): number | undefined {
    return this.reportedSize;
  }

  async read(start: number, end: number): Promise<Uint8Array> {
    const part = this.bytes.subarray(start, end);
    this.reads++;
    this.bytesRead += part.byteLength;
    return part;
  }
}

/** The measurement of a file in memory. */
export const measure = (bytes: Uint8Array): Promise<VideoMeasurement> =>
  measureVideo(new CountingFile(bytes));

/** The duration of a file in memory, in seconds. */
export const secondsOf = async (bytes: Uint8Array): Promise<number> => (await measure(bytes)).durationSec;

/** The offset of a box's size, given the offset of its content. */
export const sizeBefore = (content: number): number => content - 8;
