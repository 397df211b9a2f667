import { type Directives, faultOf } from './directives.ts';
import { paddingOf } from './media/mp4-padding.ts';
import { type Ratio, type Resolution, videoSizeOf } from './media/video-size.ts';
import type { Outputs } from './outputs.ts';

/** A video request, common to both upstreams. */
export type VideoRequest = {
  model: string;
  directives: Directives;
  resolution: Resolution;
  ratio: Ratio;
  seconds: number;
  watermark: boolean;
};

/**
 * Adds a task's video (its only output, index 0) to the outputs and returns its URL. It is encoded on the first fetch.
 * `madeAt` is in epoch milliseconds.
 */
export const addVideoOutput = (outputs: Outputs, video: VideoRequest, madeAt: number): string => {
  const { model, directives, resolution, ratio, seconds, watermark } = video;
  const { width, height } = videoSizeOf(resolution, ratio);
  const caption = `${model} ${width}x${height} ${seconds} s`;
  const wantedBytes = (directives.megabytes ?? 0) * 1_000_000;
  return outputs.add(
    {
      contentType: 'video/mp4',
      extension: 'mp4',
      produce: () =>
        outputs.media.encodeVideo({ width, height, seconds, text: directives.text, caption, watermark }),
      padding: (fileBytes) => paddingOf(fileBytes, wantedBytes),
    },
    { fault: faultOf(directives, 0), madeAt },
  );
};
