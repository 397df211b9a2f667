import { MeasuringThread } from './measuring-thread.ts';
import type { VideoMeasurement } from './read-video.ts';
import { UnreadableVideoError } from './video-type.ts';
import type { VideoWork } from './video-worker.ts';

/** The thread that waits for the next video: most of what a short video takes is a thread's start. */
let waiting: MeasuringThread | undefined;

const takeThread = (): MeasuringThread => {
  const thread = waiting?.isAlive ? waiting : new MeasuringThread();
  waiting = undefined;
  return thread;
};

/** Keeps one thread for the next video, and ends any other. */
const putBack = async (thread: MeasuringThread): Promise<void> => {
  if (thread.isAlive && !waiting?.isAlive) waiting = thread;
  else await thread.end();
};

/**
 * Measures a video by FFmpeg's demuxers, in a thread that measures nothing else meanwhile and is ended when `signal` aborts. Throws
 * `UnreadableVideoError` for a file that is not a whole video, takes too much memory or is not measured by then; and the errors of the disk.
 */
export const measureVideo = async (work: VideoWork, signal: AbortSignal): Promise<VideoMeasurement> => {
  const late = () => new UnreadableVideoError('could not be measured in time');
  if (signal.aborted) throw late();
  const thread = takeThread();
  const stop = () => void thread.end(late());
  signal.addEventListener('abort', stop, { once: true });
  try {
    const answer = await thread.measure(work);
    if ('problem' in answer) throw new UnreadableVideoError(answer.problem);
    return answer.measurement;
  } finally {
    signal.removeEventListener('abort', stop);
    await putBack(thread);
  }
};
