import { asksForVisibleMark } from '../../core/environment.ts';
import type { ProviderPlan } from '../../core/provider-calls/providers.ts';
import type { VideoRequest } from '../../core/requests/request-rules.ts';

const PATH = '/api/v1/services/aigc/video-generation/video-synthesis';

/** The one call for a video request. Model Studio has no callbacks, so the task is polled. */
export const planModelStudioVideo = (request: VideoRequest, upstreamModel: string): ProviderPlan => {
  const { prompt, resolution, durationSec, ratio } = request;
  const { seed, negativePrompt, generateAudio, promptExtend } = request;
  const media = [
    ...(request.image === undefined ? [] : [{ type: 'first_frame', url: request.image }]),
    ...(request.lastFrame === undefined ? [] : [{ type: 'last_frame', url: request.lastFrame }]),
    ...request.referenceImages.map((url) => ({ type: 'reference_image', url })),
    ...request.referenceVideos.map((url) => ({ type: 'reference_video', url })),
    ...request.referenceAudios.map((url) => ({ type: 'reference_audio', url })),
  ];
  const body = {
    model: upstreamModel,
    input: {
      prompt,
      ...(negativePrompt !== undefined && { negative_prompt: negativePrompt }),
      ...(media.length > 0 ? { media } : {}),
    },
    parameters: {
      resolution: resolution.toUpperCase(),
      duration: durationSec,
      ...(ratio === undefined ? {} : { ratio }),
      watermark: asksForVisibleMark(),
      ...(seed !== undefined && { seed }),
      ...(generateAudio !== undefined && { audio: generateAudio }),
      ...(promptExtend !== undefined && { prompt_extend: promptExtend }),
    },
  };
  return {
    mode: 'asynchronous',
    calls: [{ path: PATH, headers: { 'x-dashscope-async': 'enable' }, body }],
  };
};
