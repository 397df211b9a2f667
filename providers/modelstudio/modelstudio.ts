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
import { errorIn, type ToldError } from '../error-bodies.ts';
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
  answerText,
  type HttpAnswer,
  optional,
  optionalNumber,
  readBody,
  requiredText,
} from '../http.ts';
import { type Connection, HttpProvider } from '../http-provider.ts';
import {
  ALL_OF_IMAGES,
  ALL_OF_VIDEO,
  FRAMES_ALONE,
  type ImageFields,
  parametersAt,
  type VideoFields,
} from '../taken-fields.ts';
import { taskStateOf } from '../task-states.ts';
import { MODEL_STUDIO_ERRORS, preciseError } from './errors.ts';
import { hasTasks, planModelStudioImages } from './images.ts';
import { listUnfinished } from './task-list.ts';
import { planModelStudioVideo } from './videos.ts';

const Content = z.array(z.catch(z.object({ image: answerText() }), { image: undefined }));
/** Anything else than images in a choice, such as a refusal in words, is no output. */
const Choices = z.catch(
  z.array(z.object({ message: optional(z.object({ content: z.catch(optional(Content), undefined) })) })),
  [],
);
const Usage = z.object({
  image_count: optionalNumber(),
  output_image_count: optionalNumber(),
  duration: optionalNumber(),
  input_video_duration: optionalNumber(),
  output_video_duration: optionalNumber(),
});
const CreatedTask = z.object({ output: z.object({ task_id: requiredText() }) });
const ImagesBody = z.object({
  output: z.object({ choices: z.unknown().check(z.refine((value) => value !== undefined)) }),
  usage: z.optional(z.unknown()),
});
/** Besides the status, nothing that cannot be read hides that a task has ended. */
const TaskBody = z.object({
  output: z.object({
    task_status: requiredText(),
    code: z.optional(z.unknown()),
    message: z.optional(z.unknown()),
    choices: optional(Choices),
    video_url: z.catch(answerText(), undefined),
  }),
  usage: z.optional(z.unknown()),
});

const IMAGE_WORDS = { seed: 'sent', negativePrompt: 'sent', promptExtend: 'sent' } as const;
const VIDEO_WORDS = { ...IMAGE_WORDS, generateAudio: 'sent' } as const;

/**
 * Alibaba Cloud Model Studio. Images are synchronous or tasks, by model; videos are tasks. It never calls back. Its base URL is the
 * workspace's host: `https://<WorkspaceId>.<region>.maas.aliyuncs.com`.
 */
export class ModelStudio extends HttpProvider {
  constructor(connection: Connection) {
    super(connection, 'modelstudio');
  }

  /** Qwen-Image makes no groups, Z-Image one image of a text. */
  imageFields(upstreamModel: string): ImageFields {
    const parameters = parametersAt(upstreamModel, IMAGE_WORDS);
    const group = { ...ALL_OF_IMAGES, ...parameters, sequential: 'not taken' } as const;
    return hasTasks(upstreamModel) ? group : { ...group, images: 'not taken', references: 'not taken' };
  }

  /** Wan 2.7 follows the shape of its first frame, and takes no references. */
  videoFields(upstreamModel: string): VideoFields {
    const fields = upstreamModel.startsWith('wan2.7-i2v') ? FRAMES_ALONE : ALL_OF_VIDEO;
    return { ...fields, ...parametersAt(upstreamModel, VIDEO_WORDS) };
  }

  protected planTaken(request: StoredRequest, upstreamModel: string): ProviderPlan {
    return request.kind === 'image'
      ? planModelStudioImages(request, upstreamModel)
      : planModelStudioVideo(request, upstreamModel);
  }

  protected readCreation(answer: Answered): ProviderAnswer {
    const task = readBody(CreatedTask, answer.body);
    if (task) return { kind: 'accepted', taskId: task.output.task_id };
    const images = readBody(ImagesBody, answer.body);
    if (images) return produced(z.parse(Choices, images.output.choices), images.usage, 'yes');
    return refusedCreation(this.id, answer, errorOf(answer), MODEL_STUDIO_ERRORS);
  }

  protected taskPath(taskId: string): string {
    return `/api/v1/tasks/${encodeURIComponent(taskId)}`;
  }

  protected readTask(answer: HttpAnswer): ProviderAnswer {
    const isTold = answer.kind === 'answered' && answer.status === 200;
    const task = isTold ? readBody(TaskBody, answer.body) : undefined;
    if (!task) return untoldTask(this.id, answer, errorOf(answer), MODEL_STUDIO_ERRORS);
    const { task_status: status, choices = [], video_url: video } = task.output;
    // It does not know the task.
    if (status === 'UNKNOWN') return unknownTask();
    switch (taskStateOf(status)) {
      case 'succeeded':
        return video === undefined
          ? produced(choices, task.usage)
          : { kind: 'done', outputs: [{ url: video }], ...usageOf(task.usage) };
      case 'failed':
      case 'timed-out':
        return failedTask(this.id, errorOfTask(task.output) ?? { code: status }, MODEL_STUDIO_ERRORS, answer);
      case 'unfinished':
        return { kind: 'waiting' };
      default:
        return unknownState(this.id, status);
    }
  }

  list({ length }: readonly string[], inTurn: InTurn): Promise<TaskListing> {
    return listUnfinished(length, (path) => inTurn((signal) => this.call('GET', path, signal)));
  }

  async cancel(taskId: string, signal: AbortSignal): Promise<CancelAnswer> {
    const answer = await this.call('POST', `${this.taskPath(taskId)}/cancel`, signal);
    return cancelAnswerOf(answer, errorOf(answer)?.code);
  }
}

const errorOf = (answer: HttpAnswer): ToldError | undefined =>
  answer.kind === 'answered' ? errorOfTask(answer.body) : undefined;

const errorOfTask = (output: unknown): ToldError | undefined => {
  const error = errorIn(output);
  return error && preciseError(error);
};

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
