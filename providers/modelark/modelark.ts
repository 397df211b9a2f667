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
import {
  blame,
  cancelAnswerOf,
  type ErrorClass,
  failedTask,
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
  type HttpAnswer,
  optional,
  optionalNumber,
  optionalText,
  readBody,
  requiredText,
  saidText,
} from '../http.ts';
import { HttpProvider } from '../http-provider.ts';
import { classifyArkError } from './errors.ts';
import { planArkImages } from './images.ts';
import { listUnfinishedOf } from './task-list.ts';
import { planArkVideo, TASKS_PATH } from './videos.ts';

const ErrorBody = z.object({ error: z.object({ code: requiredText(), message: saidText() }) });
const ImagesBody = z.object({
  data: z.array(
    z.object({
      url: optionalText(),
      error: optional(z.object({ code: optionalText(), message: saidText() })),
    }),
  ),
});
const ImagesUsage = z.object({ usage: z.object({ generated_images: optionalNumber() }) });
type ImageItem = z.output<typeof ImagesBody>['data'][number];

const CreatedTask = z.object({ id: requiredText() });
const TaskBody = z.object({
  status: requiredText(),
  error: optional(z.object({ code: optionalText(), message: saidText() })),
  content: optional(z.object({ video_url: optionalText() })),
  duration: optionalNumber(),
});

/** BytePlus ModelArk. Images are synchronous calls, videos are tasks that call back. Its base URL ends with the API's version. */
export class ModelArk extends HttpProvider {
  readonly id = 'modelark';

  plan(request: StoredRequest, upstreamModel: string, callbackUrl: string): ProviderPlan {
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
    if (!images || (images.length === 0 && error))
      return refusedCreation(this.id, answer, error, classifyArkError);
    const outputs = images.map(toOutput);
    if (!outputs.some((output) => 'url' in output)) return noneProduced(outputs, images);
    const used = readBody(ImagesUsage, body)?.usage.generated_images;
    return { kind: 'done', outputs, ...(used !== undefined && { usage: { images: used } }) };
  }

  protected taskPath(taskId: string): string {
    return `${TASKS_PATH}/${encodeURIComponent(taskId)}`;
  }

  protected readTask(answer: HttpAnswer): ProviderAnswer {
    return readTaskOf(answer) ?? untoldTask(this.id, answer, errorOf(answer)?.code, classifyArkError);
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

const errorOf = (answer: HttpAnswer): z.output<typeof ErrorBody>['error'] | undefined =>
  answer.kind === 'answered' ? readBody(ErrorBody, answer.body)?.error : undefined;

/** The items of an image answer; undefined when none of them is in a form that was asked for. */
const imagesOf = (body: unknown): ImageItem[] | undefined => {
  const items = readBody(ImagesBody, body)?.data;
  return items?.length === 0 || items?.some(({ url, error }) => url ?? error) ? items : undefined;
};

const classOf = ({ error }: ImageItem): ErrorClass =>
  error?.code === undefined ? 'error' : classifyArkError(undefined, error.code);

const toOutput = (item: ImageItem): ProviderOutput =>
  item.url === undefined ? { failure: failureOf(classOf(item)) } : { url: item.url };

/** The provider took the call and made nothing of it. */
const noneProduced = (outputs: ProviderOutput[], images: readonly ImageItem[]): ProviderAnswer => {
  const { code, message } = images.find(({ error }) => error?.code !== undefined)?.error ?? {};
  return {
    ...{ kind: 'failed', failure: failureOfAll(outputs), taken: 'yes' },
    ...blame(images.length > 0 && images.every((item) => classOf(item) === 'input') ? 'input' : 'error'),
    ...(code !== undefined && { upstream: upstreamError(code, message) }),
  };
};

/** The state of a task from the answer to a query; undefined when the answer has none. */
const readTaskOf = (answer: HttpAnswer): ProviderAnswer | undefined => {
  if (answer.kind !== 'answered') return undefined;
  if (answer.status === 404 && errorOf(answer)) return unknownTask();
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
