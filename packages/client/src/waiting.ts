import { TimeoutError } from './errors.ts';
import type { WaitOptions } from './options.ts';
import { jittered, sleep } from './sleep.ts';
import type { GenerationRecord, VideoRecord } from './types.ts';

type Unfinished = { status: 'queued' } | { status: 'processing' };
/** A record of images that does not change any more, but for its expiry. */
export type FinishedImages = Exclude<GenerationRecord, Unfinished>;
/** The same of a video. */
export type FinishedVideo = Exclude<VideoRecord, Unfinished>;
/** A record that succeeded. */
export type Succeeded<Rec> = Extract<Rec, { status: 'succeeded' }>;

const VIDEO_PREFIX = 'vid_';
const FINISHED: readonly string[] = ['succeeded', 'failed', 'expired'];
const DEFAULT_INTERVAL_SECONDS = 5;
const IMAGES_TIMEOUT_SECONDS = 4_500;
const VIDEO_TIMEOUT_SECONDS = 9_000;

/** Whether a request is for a video, as its id says. */
export const isVideo = (requestId: string): boolean => requestId.startsWith(VIDEO_PREFIX);

/** Reads a record until it is finished. Throws `TimeoutError`, and what `read` throws. */
export const waitForEnd = async (
  { requestId, status: given }: { requestId: string; status?: string },
  {
    signal,
    onStatus,
    intervalSeconds = DEFAULT_INTERVAL_SECONDS,
    timeoutSeconds = isVideo(requestId) ? VIDEO_TIMEOUT_SECONDS : IMAGES_TIMEOUT_SECONDS,
  }: WaitOptions,
  read: () => Promise<GenerationRecord | VideoRecord>,
): Promise<FinishedImages | FinishedVideo> => {
  const giveUpAt = Date.now() + timeoutSeconds * 1000;
  const pause = () => sleep(Math.min(jittered(intervalSeconds * 1000), giveUpAt - Date.now()), signal);
  // A record that is given says as much as a read would: the first read is due after a pause.
  if (given && !FINISHED.includes(given)) await pause();
  for (let status: string | undefined; ; ) {
    const record = await read();
    if (record.status !== status) onStatus?.(record);
    status = record.status;
    if (FINISHED.includes(status)) return record as FinishedImages | FinishedVideo;
    if (Date.now() >= giveUpAt) throw new TimeoutError(`The request ${requestId} is still ${status}.`);
    await pause();
  }
};
