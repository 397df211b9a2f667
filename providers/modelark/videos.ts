import { asksForVisibleMark } from '../../core/environment.ts';
import type { ProviderPlan } from '../../core/provider-calls/providers.ts';
import type { VideoRequest } from '../../core/requests/request-rules.ts';

/** The path for creating tasks, and with `/<id>` for queries. */
export const TASKS_PATH = '/contents/generations/tasks';

const image = (url: string, role: string) => ({ type: 'image_url', image_url: { url }, role });

/** The one call for a video request. ModelArk calls back at every change of the task. */
export const planArkVideo = (
  request: VideoRequest,
  upstreamModel: string,
  callbackUrl: string,
): ProviderPlan => {
  const { resolution, durationSec, ratio, seed, generateAudio } = request;
  const content = [
    { type: 'text', text: withoutFlags(request.prompt) },
    ...(request.image === undefined ? [] : [image(request.image, 'first_frame')]),
    ...(request.lastFrame === undefined ? [] : [image(request.lastFrame, 'last_frame')]),
    ...request.referenceImages.map((url) => image(url, 'reference_image')),
    ...request.referenceVideos.map((url) => ({
      type: 'video_url',
      video_url: { url },
      role: 'reference_video',
    })),
    ...request.referenceAudios.map((url) => ({
      type: 'audio_url',
      audio_url: { url },
      role: 'reference_audio',
    })),
  ];
  const body = {
    model: upstreamModel,
    content,
    resolution,
    duration: durationSec,
    ...(ratio === undefined ? {} : { ratio }),
    ...(seed !== undefined && { seed }),
    ...(generateAudio !== undefined && { generate_audio: generateAudio }),
    watermark: asksForVisibleMark(),
    callback_url: callbackUrl,
  };
  return { mode: 'asynchronous', calls: [{ path: TASKS_PATH, headers: {}, body }] };
};

/**
 * A prompt in which nothing reads as a parameter. ModelArk still takes `--rs 1080p --dur 12` at the end of a text for the resolution and
 * the length (https://docs.byteplus.com/en/docs/ModelArk/1520757), which decide the price. A dash says the same to the model.
 */
const withoutFlags = (prompt: string): string => prompt.replace(/-{2,}/g, '–');
