import { type Capacity, type CreationLimiter, createCreationLimiter } from '../capacity.ts';
import { type Directives, parseDirectives } from '../directives.ts';
import { garbled } from '../garbled.ts';
import type { Handler } from '../http.ts';
import { addImageOutput } from '../image-outputs.ts';
import type { Outputs } from '../outputs.ts';
import { heldBack, pretendToWork } from '../pretend-work.ts';
import type { TaskJournal } from '../task-journal.ts';
import { DEFAULT_TASK_SECONDS } from '../tasks.ts';
import {
  asynchronousNotSupported,
  failureOf,
  synchronousNotSupported,
  taskErrorOf,
  tooManyCalls,
  wrongRoute,
} from './errors.ts';
import { readImageRequest, type StudioImageRequest } from './image-request.ts';
import { inputProblem } from './input-errors.ts';
import type { StudioTasks } from './tasks.ts';

/** Larger images are metered as 2k. */
const MAX_1K_PIXELS = 2_250_000;

/** The indexes of the images that moderation let pass. */
const madeOf = ({ n }: StudioImageRequest, { refusedOutputs }: Directives): number[] =>
  Array.from({ length: n }, (_, index) => index).filter((index) => !refusedOutputs.has(index));

/** What moderation refuses is not counted. */
const usageOf = (request: StudioImageRequest, directives: Directives) => {
  const { family, width, height, inputImagesCount } = request;
  const n = madeOf(request, directives).length;
  if (family === 'z-image') {
    return { image_count: n, width, height, input_tokens: 0, output_tokens: 0, total_tokens: 0 };
  }
  const tier = width * height <= MAX_1K_PIXELS ? '1k' : '2k';
  return {
    output_image_count: n,
    output_image_type: `qima_output_${tier}`,
    output_width: width,
    output_height: height,
    input_image_count: inputImagesCount,
    input_image_type: `qima_input_${tier}`,
  };
};

type ContentItem = { image: string } | { text: string };

const choiceOf = (content: readonly ContentItem[], extra: Record<string, string> = {}) => ({
  finish_reason: 'stop',
  message: { role: 'assistant', content, ...extra },
});

/** What `createImageHandlers` works with. */
interface ImageHandlersOptions {
  outputs: Outputs;
  tasks: StudioTasks;
  journal: TaskJournal;
  now: () => number;
  capacity?: Capacity | undefined;
}

/** The handlers of both image routes. */
class ImageHandlers implements Record<'synchronous' | 'asynchronous', Handler> {
  private readonly options: ImageHandlersOptions;
  private readonly limiter: CreationLimiter;

  constructor(options: ImageHandlersOptions) {
    this.options = options;
    this.limiter = createCreationLimiter(options.now, options.capacity);
  }

  /** `POST …/multimodal-generation/generation`: responds when the images are ready. */
  readonly synchronous: Handler = async ({ body, headers, requestId, signal, inputs }) => {
    if (headers['x-dashscope-async'] !== undefined) throw asynchronousNotSupported();
    const { request, directives, creation } = this.accept(body);
    await this.limiter.during(creation, tooManyCalls, () => pretendToWork(directives, signal));
    const failure = inputProblem(inputs) ?? failureOf(directives, madeOf(request, directives).length);
    if (failure) throw failure;
    const images = this.addImages(request, directives);
    const choice =
      request.family === 'z-image'
        ? choiceOf([...images, { text: directives.text }], { reasoning_content: '' })
        : choiceOf(images);
    const output = { choices: [choice] };
    const answer = { request_id: requestId, output, usage: usageOf(request, directives) };
    return garbled(answer, 'creation', directives);
  };

  /** `POST …/image-generation/generation`: responds with a task at once. */
  readonly asynchronous: Handler = ({ body, headers, requestId, inputs, signal }) => {
    if (headers['x-dashscope-async'] !== 'enable') throw synchronousNotSupported();
    const { request, directives } = this.accept(body);
    if (request.family === 'z-image') throw wrongRoute();
    if (this.options.capacity?.whenFull === 'refuse' && this.options.tasks.isFull(request.model))
      throw tooManyCalls({ reason: 'running' });
    const { id } = this.options.tasks.submit({
      lane: request.model,
      about: directives,
      queuedSeconds: directives.queuedSeconds,
      seconds: directives.fail === 'timeout' ? Infinity : (directives.delaySeconds ?? DEFAULT_TASK_SECONDS),
      finish: (endedAt) => {
        const failure = inputProblem(inputs) ?? failureOf(directives, madeOf(request, directives).length);
        if (failure) return { error: taskErrorOf(failure) };
        const choices = this.addImages(request, directives, endedAt).map((image) => choiceOf([image]));
        return { result: { output: { choices }, usage: usageOf(request, directives) } };
      },
    });
    this.options.journal.add({ id, upstream: 'modelstudio', model: request.model, prompt: request.prompt });
    const answer = { request_id: requestId, output: { task_id: id, task_status: 'PENDING' } };
    return heldBack(garbled(answer, 'creation', directives), directives, signal);
  };

  /** Validates a request and parses its directives. Throws the retryable error of a refusal. */
  private accept(body: Record<string, unknown>) {
    const request = readImageRequest(body);
    const directives = parseDirectives(request.prompt);
    const creation = { model: request.model, prompt: request.prompt, directives };
    const tooMany = this.limiter.refusalOf(creation);
    if (tooMany) throw tooManyCalls(tooMany);
    return { request, directives, creation };
  }

  private addImages(request: StudioImageRequest, directives: Directives, madeAt?: number): ContentItem[] {
    return madeOf(request, directives).map((index) => ({
      image: addImageOutput(this.options.outputs, { ...request, directives, format: 'png' }, index, madeAt),
    }));
  }
}

/**
 * The two image routes. The synchronous route returns several images as content items of one choice, the asynchronous
 * one as one choice each. Model Studio does both.
 */
export const createImageHandlers = (
  options: ImageHandlersOptions,
): Record<'synchronous' | 'asynchronous', Handler> => new ImageHandlers(options);
