import { Worker } from 'node:worker_threads';
import { createLimiter } from '../limiter.ts';
import type { Film } from './video-frames.ts';

// 30 s of 4k take about 4 s and 250 MB, which are freed when the thread ends.
const atMostTwoAtOnce = createLimiter(2);

/** How long a thread waits for another film: its start takes longer than a short film does. */
const IDLE_MILLISECONDS = 10_000;

/** The two ends of the film that an encoder encodes: the bytes of its video, or an error. */
interface Outcome {
  resolve(bytes: Buffer): void;
  reject(error: unknown): void;
}

/** A thread that encodes one film at a time. */
class Encoder {
  private readonly thread = new Worker(new URL('./encode-video-worker.ts', import.meta.url));
  private current: Outcome | undefined;
  private end: NodeJS.Timeout | undefined;

  constructor() {
    this.thread.on('message', (bytes: Uint8Array) =>
      this.current?.resolve(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
    );
    this.thread.on('error', (error) => this.current?.reject(error));
    this.thread.on('exit', (code) => {
      idle.delete(this);
      this.current?.reject(new Error(`the encoder exited with code ${code} and no video`));
    });
    // Do not keep the process alive for a video that no client is waiting for.
    this.thread.unref();
  }

  /** Rejects when the thread ends without the video; the thread is of no use then. */
  encode(film: Film): Promise<Buffer> {
    clearTimeout(this.end);
    return new Promise((resolve, reject) => {
      this.current = { resolve, reject };
      this.thread.postMessage(film);
    });
  }

  /** Waits for another film, and ends when none comes. */
  rest(): void {
    idle.add(this);
    this.end = setTimeout(() => {
      idle.delete(this);
      void this.thread.terminate();
    }, IDLE_MILLISECONDS).unref();
  }
}

/** The threads that wait for a film. */
const idle = new Set<Encoder>();

const takeIdle = (): Encoder | undefined => {
  const [encoder] = idle;
  if (encoder) idle.delete(encoder);
  return encoder;
};

/**
 * Encodes an H.264 MP4 of exactly the film's size and duration in a worker thread, at most two at a time in this process.
 * Rejects when the encoder fails.
 */
export const encodeVideo = (film: Film): Promise<Buffer> =>
  atMostTwoAtOnce(async () => {
    const encoder = takeIdle() ?? new Encoder();
    const bytes = await encoder.encode(film);
    encoder.rest();
    return bytes;
  });
