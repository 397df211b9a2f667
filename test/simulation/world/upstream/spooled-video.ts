import { SpooledVideo, type VideoMeasurement } from '@generation-service/media/spooled-video';
import { UnreadableVideoError } from '@generation-service/media/video-type';
import { secondsOf } from './clips.ts';
import { anMp4, SECONDS_OF_MP4 } from './media.ts';

const written = new WeakMap<SpooledVideo, Uint8Array[]>();

const lengthOf = (bytes: Buffer): number | undefined => {
  const delivered = anMp4();
  return bytes.subarray(0, delivered.length).equals(delivered) ? SECONDS_OF_MP4 : secondsOf(bytes);
};

/** Measures videos by the files that were made for the simulation: the disk and a thread would take real time. */
export const measureWithoutDisk = (): void => {
  Object.assign(SpooledVideo.prototype, {
    async write(this: SpooledVideo, chunk: Uint8Array): Promise<void> {
      written.set(this, [...(written.get(this) ?? []), chunk]);
    },
    async measure(this: SpooledVideo, signal: AbortSignal): Promise<VideoMeasurement> {
      const seconds = lengthOf(Buffer.concat(written.get(this) ?? []));
      if (signal.aborted || seconds === undefined) throw new UnreadableVideoError('is damaged');
      return { durationSec: seconds, longestSec: seconds, width: 640, height: 360, framesPerSecond: 24 };
    },
    async close(): Promise<void> {},
  });
};
