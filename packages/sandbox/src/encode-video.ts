import { Worker } from 'node:worker_threads';
import { createLimiter } from './limiter.ts';
import type { Film } from './video-frames.ts';

// 30 s of 4k take some 4 s and 250 MB, which the thread gives back when it ends.
const atMostTwoAtOnce = createLimiter(2);

/**
 * Makes an H.264 MP4 of exactly the film's size and whole seconds, in a thread of its own. At most two are made at a time
 * in this process; the rest wait their turn.
 */
export const encodeVideo = (film: Film): Promise<Buffer> =>
  atMostTwoAtOnce(
    () =>
      new Promise((resolve, reject) => {
        const worker = new Worker(new URL('./encode-video-worker.ts', import.meta.url), { workerData: film });
        // A closed sandbox does not wait for a video that nobody is left to fetch.
        worker.unref();
        worker.once('message', (bytes: Uint8Array) =>
          resolve(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
        );
        worker.once('error', reject);
        worker.once('exit', (code) =>
          reject(new Error(`the encoder ended with ${code} and without a video`)),
        );
      }),
  );
