import { parentPort, workerData } from 'node:worker_threads';
import { loadLibav, MAX_HEAP_BYTES } from '../src/libav.ts';
import { measureFile, type VideoAnswer } from '../src/measure-file.ts';
import { UnreadableVideoError, videoTypeOf } from '../src/video-type.ts';
import { fileOf } from './altered.ts';

/** The answer to a seed. */
export interface Measured {
  seed: number;
  answer: VideoAnswer;
}

/** A library that read a damaged file may keep some of its memory. */
const FILES_OF_A_LIBRARY = 200;

/** Measures the altered files of seeds, one after the other, as the thread of a video does. */
const measureAll = async (seeds: readonly number[], originals: readonly Uint8Array[]): Promise<void> => {
  let library = await loadLibav(MAX_HEAP_BYTES);
  let files = 0;
  for (const seed of seeds) {
    const file = fileOf(seed, originals);
    const type = videoTypeOf(file);
    let answer: VideoAnswer = { problem: new UnreadableVideoError('is no video').message };
    if (type) {
      const demuxer = ['webm', 'mkv'].includes(type.extension) ? 'matroska' : 'mov';
      const readAt = (position: number, count: number) => file.subarray(position, position + count);
      answer = await measureFile(library, readAt, file.length, demuxer);
    }
    parentPort?.postMessage({ seed, answer } satisfies Measured);
    if ('problem' in answer || ++files % FILES_OF_A_LIBRARY === 0) library = await loadLibav(MAX_HEAP_BYTES);
    else library.libav.unlink('video');
  }
};

if (parentPort) await measureAll(workerData.seeds, workerData.originals);
