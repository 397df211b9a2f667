import { SpooledVideo, type VideoMeasurement } from '../src/spooled-video.ts';

/** The measurement of a file in memory. */
export const measure = async (
  bytes: Uint8Array,
  signal: AbortSignal = new AbortController().signal,
): Promise<VideoMeasurement> => {
  const video = new SpooledVideo();
  try {
    await video.write(bytes);
    return await video.measure(signal);
  } finally {
    await video.close();
  }
};

/** The duration of a file in memory, in seconds. */
export const secondsOf = async (bytes: Uint8Array): Promise<number> => (await measure(bytes)).durationSec;

/** The longest that a player may take a file in memory for, in seconds. */
export const longestOf = async (bytes: Uint8Array): Promise<number> => (await measure(bytes)).longestSec;
