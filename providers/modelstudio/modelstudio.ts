import * as z from 'zod/mini';
import type {
  CancelAnswer,
  InTurn,
  ProviderAnswer,
  ProviderPlan,
  ProviderUsage,
  TaskListing,
} from '../../core/provider-calls/providers.ts';
import type { StoredRequest } from '../../core/requests/request-rules.ts';
import {
  cancelAnswerOf,
  failedTask,
  failureOf,
  refusedCreation,
  unknownState,
  unknownTask,
  untoldTask,
} from '../failures.ts';
import {
  type Answered,
  type HttpAnswer,
  optional,
  optionalNumber,
  optionalText,
  readBody,
  requiredText,
  saidText,
} from '../http.ts';
import { HttpProvider } from '../http-provider.ts';
import { classifyModelStudioError } from './errors.ts';
import { planModelStudioImages } from './images.ts';
import { listUnfinished } from './task-list.ts';
import { planModelStudioVideo } from './videos.ts';

const Choices = z.array(
  z.object({
    message: optional(z.object({ content: optional(z.array(z.object({ image: optionalText() }))) })),
  }),
);
const Usage = z.object({
  image_count: optionalNumber(),
  output_image_count: optionalNumber(),
  duration: optionalNumber(),
  input_video_duration: optionalNumber(),
  output_video_duration: optionalNumber(),
});
const ErrorBody = z.object({ code: requiredText(), message: saidText() });
const CreatedTask = z.object({ output: z.object({ task_id: requiredText() }) });
const ImagesBody = z.object({ output: z.object({ choices: Choices }), usage: z.optional(z.unknown()) });
const TaskBody = z.object({
  output: z.object({
    task_status: requiredText(),
    code: optionalText(),
    message: saidText(),
    choices: optional(Choices),
    video_url: optionalText(),
  }),
  usage: z.optional(z.unknown()),
});

/**
 * Alibaba Cloud Model Studio. Images are synchronous or tasks, by model; videos are tasks. It never calls back. Its base URL is the
 * workspace's host: `https://<WorkspaceId>.<region>.maas.aliyuncs.com`.
 */
export class ModelStudio extends HttpProvider {
  readonly id = 'modelstudio';

  plan(request: StoredRequest, upstreamModel: string): ProviderPlan {
    return request.kind === 'image'
      ? planModelStudioImages(request, upstreamModel)
      : planModelStudioVideo(request, upstreamModel);
  }

  protected readCreation(answer: Answered): ProviderAnswer {
    const task = readBody(CreatedTask, answer.body);
    if (task) return { kind: 'accepted', taskId: task.output.task_id };
    const images = readBody(ImagesBody, answer.body);
    if (images) return produced(images.output.choices, images.usage, 'yes');
    return refusedCreation(this.id, answer, errorOf(answer), classifyModelStudioError);
  }

  protected taskPath(taskId: string): string {
    return `/api/v1/tasks/${encodeURIComponent(taskId)}`;
  }

  protected readTask(answer: HttpAnswer): ProviderAnswer {
    const isTold = answer.kind === 'answered' && answer.status === 200;
    const task = isTold ? readBody(TaskBody, answer.body) : undefined;
    if (!task) return untoldTask(this.id, answer, errorOf(answer)?.code, classifyModelStudioError);
    const { task_status: status, code = status, message, choices = [], video_url: video } = task.output;
    switch (status) {
      case 'SUCCEEDED':
        return video === undefined
          ? produced(choices, task.usage)
          : { kind: 'done', outputs: [{ url: video }], ...usageOf(task.usage) };
      case 'FAILED':
      case 'CANCELED':
        return failedTask(this.id, { code, message }, classifyModelStudioError, answer);
      case 'UNKNOWN':
        return unknownTask();
      case 'PENDING':
      case 'RUNNING':
        return { kind: 'waiting' };
      default:
        return unknownState(this.id, status);
    }
  }

  list(_: readonly string[], inTurn: InTurn): Promise<TaskListing> {
    return listUnfinished((path) => inTurn((signal) => this.call('GET', path, signal)));
  }

  async cancel(taskId: string, signal: AbortSignal): Promise<CancelAnswer> {
    const answer = await this.call('POST', `${this.taskPath(taskId)}/cancel`, signal);
    return cancelAnswerOf(answer, errorOf(answer)?.code);
  }
}

const errorOf = (answer: HttpAnswer): z.output<typeof ErrorBody> | undefined =>
  answer.kind === 'answered' ? readBody(ErrorBody, answer.body) : undefined;

/** Every image of every choice: a response may hold one choice with many images or many choices. */
const produced = (choices: z.output<typeof Choices>, usage: unknown, taken?: 'yes'): ProviderAnswer => {
  const outputs = choices.flatMap(({ message }) =>
    (message?.content ?? []).flatMap(({ image }) => (image === undefined ? [] : [{ url: image }])),
  );
  if (outputs.length > 0) return { kind: 'done', outputs, ...usageOf(usage) };
  return { kind: 'failed', failure: failureOf('error'), ...(taken && { taken }) };
};

/** Wan 2.7 tells the seconds of the output alone, as `duration`; Wan 3.0 those of input and output as well. */
const usageOf = (usage: unknown): { usage?: ProviderUsage } => {
  const told = readBody(Usage, usage);
  if (!told) return {};
  const images = told.output_image_count ?? told.image_count;
  const inputSeconds = told.input_video_duration;
  const outputSeconds =
    told.output_video_duration ?? (inputSeconds === undefined ? told.duration : undefined);
  return {
    usage: {
      ...(images !== undefined && { images }),
      ...(inputSeconds !== undefined && { inputSeconds }),
      ...(outputSeconds !== undefined && { outputSeconds }),
    },
  };
};
