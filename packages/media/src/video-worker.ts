import { readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { loadLibav, MAX_HEAP_BYTES } from './libav.ts';
import { measureFile } from './measure-file.ts';
import type { Demuxer } from './read-video.ts';

/** A video that this thread is told to measure: an open file. */
export interface VideoWork {
  fd: number;
  sizeBytes: number;
  demuxer: Demuxer;
}

/** Answers with the measurement of a video. An error of the machine's disk, which is no problem of the file, ends this thread. */
const answer = async ({ fd, sizeBytes, demuxer }: VideoWork): Promise<void> => {
  let diskFailure: { error: unknown } | undefined;
  const readAt = (position: number, count: number): Buffer => {
    try {
      const bytes = Buffer.alloc(count);
      return bytes.subarray(0, readSync(fd, bytes, 0, count, position));
    } catch (error) {
      diskFailure = { error };
      throw error;
    }
  };
  const measured = await measureFile(await loadLibav(MAX_HEAP_BYTES), readAt, sizeBytes, demuxer);
  if (diskFailure) throw diskFailure.error;
  parentPort?.postMessage(measured);
};

parentPort?.on('message', answer);
