import * as z from 'zod/mini';
import type { ProviderAnswer, ProviderPlan } from '../../core/provider-calls/providers.ts';
import type { VideoRequest } from '../../core/requests/request-rules.ts';
import { failedTask, failureOf, unknownState, unknownTask } from '../failures.ts';
import {
  type HttpAnswer,
  optional,
  optionalNumber,
  optionalText,
  readBody,
  requiredText,
  saidText,
} from '../http.ts';
import { classifyArkError } from './errors.ts';

/** Where tasks are created, and queried by `/<id>`. */
export const TASKS_PATH = '/contents/generations/tasks';

const image = (url: string, role: string) => ({ type: 'image_url', image_url: { url }, role });

/** The one call for a video request. ModelArk calls back at every change of the task. */
export const planArkVideo = (
  request: VideoRequest,
  upstreamModel: string,
  callbackUrl: string,
): ProviderPlan => {
  const { prompt, resolution, durationSec, ratio } = request;
  const content = [
    { type: 'text', text: prompt },
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
    watermark: false,
    callback_url: callbackUrl,
  };
  return { mode: 'asynchronous', calls: [{ path: TASKS_PATH, headers: {}, body }] };
};

const TaskBody = z.object({
  status: requiredText(),
  error: optional(z.object({ code: optionalText(), message: saidText() })),
  content: optional(z.object({ video_url: optionalText() })),
  duration: optionalNumber(),
});

/** The state of a task from the answer to a query; undefined when the answer has none. */
export const readArkTask = (answer: HttpAnswer): ProviderAnswer | undefined => {
  if (answer.kind !== 'answered') return undefined;
  if (answer.status === 404) return unknownTask();
  const task = answer.status === 200 ? readBody(TaskBody, answer.body) : undefined;
  if (!task) return undefined;
  const { status, error, content, duration: outputSeconds } = task;
  switch (status) {
    case 'queued':
    case 'running':
      return { kind: 'waiting' };
    case 'succeeded': {
      const url = content?.video_url;
      if (!url) return { kind: 'failed', failure: failureOf('error') };
      const usage = outputSeconds === undefined ? {} : { usage: { outputSeconds } };
      return { kind: 'done', outputs: [{ url }], ...usage };
    }
    case 'expired':
      return { kind: 'failed', failure: failureOf('timeout') };
    case 'failed':
    case 'cancelled':
      return failedTask('modelark', { ...error, code: error?.code ?? status }, classifyArkError, answer);
    default:
      return unknownState('modelark', status);
  }
};
