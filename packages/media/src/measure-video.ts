import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { VideoAnswer } from './measure-file.ts';
import type { VideoMeasurement } from './read-video.ts';
import { UnreadableVideoError } from './video-type.ts';
import type { VideoWork } from './video-worker.ts';

/** Beside this module, as TypeScript here and bundled where this is. */
const WORKER = new URL(`./video-worker${extname(import.meta.url)}`, import.meta.url);
/** For JavaScript: what the file makes FFmpeg allocate is bounded apart from it. */
const MAX_SCRIPT_MEGABYTES = 64;

/**
 * Measures a video by FFmpeg's demuxers, in a thread of its own that is ended at the latest when `signal` aborts. Throws `UnreadableVideoError` for
 * a file that is not a whole video, takes too much memory or is not measured by then; and the errors of the disk.
 */
export const measureVideo = async (work: VideoWork, signal: AbortSignal): Promise<VideoMeasurement> => {
  const late = () => new UnreadableVideoError('could not be measured in time');
  if (signal.aborted) throw late();
  const worker = new Worker(WORKER, {
    workerData: work,
    env: {},
    execArgv: [],
    // The library writes there of what it cannot read.
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: MAX_SCRIPT_MEGABYTES },
  });
  const answered = Promise.withResolvers<VideoAnswer>();
  const stop = () => answered.reject(late());
  signal.addEventListener('abort', stop, { once: true });
  worker.on('message', answered.resolve);
  worker.on('error', (error: NodeJS.ErrnoException) =>
    answered.reject(
      error.code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? new UnreadableVideoError('takes too much memory to read', { cause: error })
        : error,
    ),
  );
  worker.on('exit', (code) => answered.reject(new Error(`The thread ended with ${code} and no answer.`)));
  try {
    const answer = await answered.promise;
    if ('problem' in answer) throw new UnreadableVideoError(answer.problem);
    return answer.measurement;
  } finally {
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  }
};
