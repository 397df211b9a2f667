import { Worker } from 'node:worker_threads';
import { createLimiter } from '../limiter.ts';
import type { Film } from './video-frames.ts';

// 30 s of 4k take about 4 s and 250 MB, which are freed when the thread exits.
const atMostTwoAtOnce = createLimiter(2);

/**
 * Encodes an H.264 MP4 of exactly the film's size and duration in a worker thread, at most two at a time in this process.
 * Rejects when the encoder fails.
 */
export const encodeVideo = (film: Film): Promise<Buffer> =>
  atMostTwoAtOnce(
    () =>
      new Promise((resolve, reject) => {
        const worker = new Worker(new URL('./encode-video-worker.ts', import.meta.url), { workerData: film });
        // Do not keep the process alive for a video that no client is waiting for.
        worker.unref();
        worker.once('message', (bytes: Uint8Array) =>
          resolve(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
        );
        worker.once('error', reject);
        worker.once('exit', (code) => reject(new Error(`the encoder exited with code ${code} and no video`)));
      }),
  );
