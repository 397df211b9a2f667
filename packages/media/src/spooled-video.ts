import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureVideo } from './measure-video.ts';
import type { VideoMeasurement } from './read-video.ts';
import { UnreadableVideoError, VIDEO_HEAD_BYTES, videoTypeOf } from './video-type.ts';

export type { VideoMeasurement };

/**
 * A video spooled to this machine's disk for measuring. The file is unlinked while open, so its bytes go when the
 * file is closed or the process ends. No part of the video stays in memory.
 */
export class SpooledVideo {
  private file: FileHandle | undefined;
  private sizeBytes = 0;

  /** Adds the next bytes. */
  async write(chunk: Uint8Array): Promise<void> {
    this.file ??= await openUnnamed();
    for (let written = 0; written < chunk.byteLength; ) {
      const { bytesWritten } = await this.file.write(chunk, written, undefined, this.sizeBytes + written);
      written += bytesWritten;
    }
    this.sizeBytes += chunk.byteLength;
  }

  /**
   * Measures what was written. Throws `UnreadableVideoError` when it is not a whole video, its duration cannot be determined, or `signal`
   * aborts before that; and the errors of the disk.
   */
  async measure(signal: AbortSignal): Promise<VideoMeasurement> {
    const head = Buffer.alloc(VIDEO_HEAD_BYTES);
    const { bytesRead = 0 } = (await this.file?.read(head, 0, head.byteLength, 0)) ?? {};
    const type = videoTypeOf(head.subarray(0, bytesRead));
    if (!this.file || !type) throw new UnreadableVideoError('is not a video that can be read');
    const demuxer = type.extension === 'webm' || type.extension === 'mkv' ? 'matroska' : 'mov';
    return measureVideo({ fd: this.file.fd, sizeBytes: this.sizeBytes, demuxer }, signal);
  }

  /** Removes it. */
  async close(): Promise<void> {
    await this.file?.close();
    this.file = undefined;
  }
}

const openUnnamed = async (): Promise<FileHandle> => {
  const path = join(tmpdir(), `video-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
};
