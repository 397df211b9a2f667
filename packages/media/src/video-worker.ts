import { readSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { loadLibav, MAX_HEAP_BYTES } from './libav.ts';
import { measureFile } from './measure-file.ts';
import type { Demuxer } from './read-video.ts';

/** The video that a worker measures: an open file. */
export interface VideoWork {
  fd: number;
  sizeBytes: number;
  demuxer: Demuxer;
}

const { fd, sizeBytes, demuxer } = workerData as VideoWork;

/** A failure of the machine's disk, which is no problem of the file. */
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

const answer = await measureFile(await loadLibav(MAX_HEAP_BYTES), readAt, sizeBytes, demuxer);
if (diskFailure) throw diskFailure.error;
parentPort?.postMessage(answer);
