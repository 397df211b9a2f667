import type { VideoRequest } from '../../core/requests/request-rules.ts';
import type { FalInput } from './images.ts';

const listed = (name: string, urls: readonly string[]) => (urls.length > 0 ? { [name]: urls } : {});

/** The one call for a video request. `upstreamModel` is the endpoint without its last part: `alibaba/wan-3.0`. */
export const falVideoInput = (request: VideoRequest, upstreamModel: string): FalInput => {
  const { prompt, resolution, durationSec, ratio, image, lastFrame } = request;
  const { referenceImages, referenceVideos, referenceAudios } = request;
  const { seed, negativePrompt, generateAudio, promptExtend = true } = request;
  const isWan27 = upstreamModel.endsWith('/wan/v2.7');
  const hasReferences = [referenceImages, referenceVideos, referenceAudios].some(({ length }) => length > 0);
  const route = hasReferences
    ? 'reference-to-video'
    : image === undefined
      ? 'text-to-video'
      : 'image-to-video';
  const body = {
    prompt,
    resolution,
    duration: durationSec,
    ...(ratio !== undefined && { aspect_ratio: ratio }),
    ...(image !== undefined && { [isWan27 ? 'image_url' : 'start_image_url']: image }),
    ...(lastFrame !== undefined && { end_image_url: lastFrame }),
    ...listed('reference_image_urls', referenceImages),
    ...listed('reference_video_urls', referenceVideos),
    ...listed('reference_audio_urls', referenceAudios),
    ...(seed !== undefined && { seed }),
    ...(negativePrompt !== undefined && { negative_prompt: negativePrompt }),
    ...(generateAudio !== undefined && { audio: generateAudio }),
    // Rewriting the prompt is as at the model's maker.
    enable_prompt_expansion: promptExtend,
  };
  return { endpoint: `${upstreamModel}/${route}`, body };
};
