import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { VideoAnswer } from './measure-file.ts';
import { UnreadableVideoError } from './video-type.ts';
import type { VideoWork } from './video-worker.ts';

/** Beside this module, as TypeScript here and bundled where this is. */
const WORKER = new URL(`./video-worker${extname(import.meta.url)}`, import.meta.url);
/** For JavaScript: what a file makes FFmpeg allocate is bounded apart from it. */
const MAX_SCRIPT_MEGABYTES = 64;

/** A thread that measures videos, one at a time. A thread without a video does not keep its process alive. */
export class MeasuringThread {
  private readonly worker = new Worker(WORKER, {
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_SCRIPT_MEGABYTES },
  });
  private answered: PromiseWithResolvers<VideoAnswer> | undefined;
  private alive = true;

  constructor() {
    this.worker.on('message', (answer: VideoAnswer) => this.answered?.resolve(answer));
    this.worker.on('error', (error: NodeJS.ErrnoException) => this.fail(failureOf(error)));
    this.worker.on('exit', (code) => this.fail(new Error(`The thread ended with ${code} and no answer.`)));
  }

  /** False once the thread has failed or was ended. */
  get isAlive(): boolean {
    return this.alive;
  }

  /**
   * Measures a video. Rejects with an `UnreadableVideoError` when the video takes too much memory, with the errors of the disk, or with the
   * reason that `end` was given meanwhile.
   */
  async measure(work: VideoWork): Promise<VideoAnswer> {
    const answered = Promise.withResolvers<VideoAnswer>();
    this.answered = answered;
    this.worker.ref();
    this.worker.postMessage(work);
    try {
      return await answered.promise;
    } finally {
      this.worker.unref();
    }
  }

  /** Ends the thread, and resolves once it reads no file any more. A video that is being measured fails with `reason`. */
  async end(reason = new Error('The thread was ended.')): Promise<void> {
    this.fail(reason);
    await this.worker.terminate();
  }

  private fail(reason: Error): void {
    this.alive = false;
    this.answered?.reject(reason);
  }
}

const failureOf = (error: NodeJS.ErrnoException): Error =>
  error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new UnreadableVideoError('takes too much memory to read', { cause: error })
    : error;
