import { type Directives, isBroken } from './directives.ts';
import { encodeVideo } from './encode-video.ts';
import { paddingOf } from './mp4-padding.ts';
import type { Outputs } from './outputs.ts';
import { type Ratio, type Resolution, videoSizeOf } from './video-size.ts';

/** The video of a task, in no upstream's own words. */
export type VideoRequest = {
  model: string;
  directives: Directives;
  resolution: Resolution;
  ratio: Ratio;
  seconds: number;
  watermark: boolean;
};

/** The URL of a task's only video (index 0), made when it is first fetched. `madeAt` is in epoch milliseconds. */
export const addVideoOutput = (outputs: Outputs, video: VideoRequest, madeAt: number): string => {
  const { model, directives, resolution, ratio, seconds, watermark } = video;
  const { width, height } = videoSizeOf(resolution, ratio);
  const caption = `${model} ${width}x${height} ${seconds} s`;
  const wantedBytes = (directives.megabytes ?? 0) * 1_000_000;
  return outputs.add(
    {
      contentType: 'video/mp4',
      extension: 'mp4',
      produce: () => encodeVideo({ width, height, seconds, text: directives.text, caption, watermark }),
      padding: (fileBytes) => paddingOf(fileBytes, wantedBytes),
    },
    { isBroken: isBroken(directives, 0), madeAt },
  );
};
