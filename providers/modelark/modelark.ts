import * as z from 'zod/mini';
import type {
  CancelAnswer,
  InTurn,
  ProviderAnswer,
  ProviderOutput,
  ProviderPlan,
  TaskListing,
} from '../../core/provider-calls/providers.ts';
import type { StoredRequest } from '../../core/requests/request-rules.ts';
import { errorIn, type ToldError } from '../error-bodies.ts';
import { classify, type Verdict } from '../error-classes.ts';
import {
  blame,
  cancelAnswerOf,
  failedTask,
  failureFor,
  failureOf,
  failureOfAll,
  refusedCreation,
  unknownState,
  unknownTask,
  untoldTask,
  upstreamError,
} from '../failures.ts';
import {
  type Answered,
  answerText,
  type HttpAnswer,
  optionalNumber,
  readBody,
  reportedSeed,
  requiredText,
} from '../http.ts';
import { type Connection, HttpProvider } from '../http-provider.ts';
import {
  ALL_OF_IMAGES,
  ALL_OF_VIDEO,
  type ImageFields,
  parametersAt,
  type VideoFields,
} from '../taken-fields.ts';
import { taskStateOf } from '../task-states.ts';
import { ARK_ERRORS } from './errors.ts';
import { planArkImages } from './images.ts';
import { listUnfinishedOf } from './task-list.ts';
import { planArkVideo, TASKS_PATH } from './videos.ts';

const ImagesBody = z.object({
  data: z.array(z.object({ url: z.catch(answerText(), undefined), error: z.optional(z.unknown()) })),
});
const ImagesUsage = z.object({ usage: z.object({ generated_images: optionalNumber() }) });
type ImageItem = z.output<typeof ImagesBody>['data'][number];

const CreatedTask = z.object({ id: requiredText() });
/** Besides the status, nothing that cannot be read hides that a task has ended. */
const TaskBody = z.object({
  status: requiredText(),
  error: z.optional(z.unknown()),
  content: z.catch(z.optional(z.nullable(z.object({ video_url: answerText() }))), undefined),
  duration: optionalNumber(),
  seed: optionalNumber(),
});

/** ModelArk has no parameter for a negative prompt, and its `optimize_prompt_options` cannot turn prompt extension off. */
const IMAGE_WORDS = { seed: 'sent', negativePrompt: 'not taken', promptExtend: 'not taken' } as const;
const VIDEO_WORDS = { ...IMAGE_WORDS, generateAudio: 'sent' } as const;

/** BytePlus ModelArk. Images are synchronous calls, videos are tasks that call back. Its base URL ends with the API's version. */
export class ModelArk extends HttpProvider {
  constructor(connection: Connection) {
    super(connection, 'modelark');
  }

  imageFields(upstreamModel: string): ImageFields {
    return { ...ALL_OF_IMAGES, ...parametersAt(upstreamModel, IMAGE_WORDS) };
  }

  videoFields(upstreamModel: string): VideoFields {
    return { ...ALL_OF_VIDEO, ...parametersAt(upstreamModel, VIDEO_WORDS) };
  }

  protected planTaken(request: StoredRequest, upstreamModel: string, callbackUrl: string): ProviderPlan {
    return request.kind === 'image'
      ? planArkImages(request, upstreamModel)
      : planArkVideo(request, upstreamModel, callbackUrl);
  }

  protected readCreation(answer: Answered): ProviderAnswer {
    const { status, body } = answer;
    const task = status === 200 ? readBody(CreatedTask, body) : undefined;
    if (task) return { kind: 'accepted', taskId: task.id };
    const images = status === 200 ? imagesOf(body) : undefined;
    const error = errorOf(answer);
    // Without any item, the error is at the top level.
    if (!images || (images.length === 0 && error)) return refusedCreation(this.id, answer, error, ARK_ERRORS);
    const outputs = images.map(toOutput);
    if (!outputs.some((output) => 'url' in output)) return noneProduced(outputs, images);
    const used = readBody(ImagesUsage, body)?.usage.generated_images;
    return { kind: 'done', outputs, ...(used !== undefined && { usage: { images: used } }) };
  }

  protected taskPath(taskId: string): string {
    return `${TASKS_PATH}/${encodeURIComponent(taskId)}`;
  }

  protected readTask(answer: HttpAnswer): ProviderAnswer {
    return readTaskOf(answer) ?? untoldTask(this.id, answer, errorOf(answer), ARK_ERRORS);
  }

  list(taskIds: readonly string[], inTurn: InTurn): Promise<TaskListing> {
    return listUnfinishedOf(taskIds, (path) => inTurn((signal) => this.call('GET', path, signal)));
  }

  /**
   * Cancels a queued task. The same call deletes the record of a finished task, and is refused for a running
   * one.
   */
  async cancel(taskId: string, signal: AbortSignal): Promise<CancelAnswer> {
    const answer = await this.call('DELETE', this.taskPath(taskId), signal);
    return cancelAnswerOf(answer, errorOf(answer)?.code);
  }
}

const errorOf = (answer: HttpAnswer): ToldError | undefined =>
  answer.kind === 'answered' ? errorIn(answer.body) : undefined;

/** The items of an image answer; undefined when none of them is in a form that was asked for. */
const imagesOf = (body: unknown): ImageItem[] | undefined => {
  const items = readBody(ImagesBody, body)?.data;
  return items?.length === 0 || items?.some(({ url, error }) => url ?? error) ? items : undefined;
};

/** The meaning of an item's error; an error without a code is the provider's own fault. */
const verdictOf = ({ error }: ImageItem): Verdict => {
  const told = errorIn({ error });
  return told ? classify(ARK_ERRORS, told) : { errorClass: 'error' };
};

const toOutput = (item: ImageItem): ProviderOutput =>
  item.url === undefined ? { failure: failureFor(verdictOf(item)) } : { url: item.url };

/** The provider took the call and made nothing of it. */
const noneProduced = (outputs: ProviderOutput[], images: readonly ImageItem[]): ProviderAnswer => {
  const told = images.map(({ error }) => errorIn({ error })).find((error) => error !== undefined);
  const isOfInput = images.length > 0 && images.every((item) => verdictOf(item).errorClass === 'input');
  return {
    ...{ kind: 'failed', failure: failureOfAll(outputs), taken: 'yes' },
    ...blame(isOfInput ? 'input' : 'error'),
    ...(told && { upstream: upstreamError(told.code, told.message) }),
  };
};

/** The state of a task from the answer to a query; undefined when the answer has none. */
const readTaskOf = (answer: HttpAnswer): ProviderAnswer | undefined => {
  if (answer.kind !== 'answered') return undefined;
  if (answer.status === 404 && errorOf(answer)) return unknownTask();
  const task = answer.status === 200 ? readBody(TaskBody, answer.body) : undefined;
  if (!task) return undefined;
  const { status, error, content, duration: outputSeconds, seed } = task;
  switch (taskStateOf(status)) {
    case 'unfinished':
      return { kind: 'waiting' };
    case 'succeeded': {
      const url = content?.video_url;
      if (!url) return { kind: 'failed', failure: failureOf('error') };
      const usage = outputSeconds === undefined ? {} : { usage: { outputSeconds } };
      return { kind: 'done', outputs: [{ url }], ...usage, ...reportedSeed(seed) };
    }
    case 'timed-out':
      return { kind: 'failed', failure: failureOf('timeout') };
    case 'failed':
      return failedTask('modelark', errorIn({ error }) ?? { code: status }, ARK_ERRORS, answer);
    default:
      return unknownState('modelark', status);
  }
};
