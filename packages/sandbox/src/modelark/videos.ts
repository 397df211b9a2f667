import { randomInt } from 'node:crypto';
import { createCallCounter } from '../call-counter.ts';
import type { Callbacks } from '../callbacks.ts';
import { type Capacity, type CreationLimiter, createCreationLimiter } from '../capacity.ts';
import { type Directives, parseDirectives } from '../directives.ts';
import { garbled } from '../garbled.ts';
import type { Handler } from '../http.ts';
import type { Outputs } from '../outputs.ts';
import { heldBack } from '../pretend-work.ts';
import type { TaskJournal } from '../task-journal.ts';
import { createTasks, DEFAULT_TASK_SECONDS, type TaskOutcome, type Tasks } from '../tasks.ts';
import { addVideoOutput } from '../video-outputs.ts';
import {
  authenticationError,
  cannotDelete,
  inputTextSensitive,
  internalServiceError,
  outputVideoSensitive,
  quotaExceeded,
  serviceUnavailable,
  taskErrorOf,
  taskNotFound,
  tooManyCalls,
} from './errors.ts';
import { listArkTasks } from './task-list.ts';
import { type ArkVideoRequest, readVideoRequest } from './video-request.ts';
import { type ArkTaskAbout, type ArkTaskResult, newArkTaskId, renderArkTask } from './video-tasks.ts';

/** Tasks are kept for seven days. */
const TASK_RETENTION_SECONDS = 7 * 24 * 60 * 60;

const MAX_SEED = 2 ** 32 - 1;

/** Without a delay, `[fail=…]` rejects the creation. */
const creationErrorOf = ({ fail, delaySeconds = 0 }: Directives) => {
  if (delaySeconds > 0) return undefined;
  if (fail === 'provider_error') return internalServiceError();
  if (fail === 'content_policy') return inputTextSensitive();
  return undefined;
};

/** With a delay, `[fail=…]` fails the task. */
const taskFailureOf = ({ fail }: Directives) => {
  if (fail === 'provider_error') return internalServiceError();
  if (fail === 'content_policy') return outputVideoSensitive();
  return undefined;
};

/** What `createVideoHandlers` works with. */
interface VideoHandlersOptions {
  outputs: Outputs;
  journal: TaskJournal;
  callbacks: Callbacks;
  now: () => number;
  capacity?: Capacity | undefined;
  newTaskId?: () => string;
}

/** The tasks of ModelArk, and the handlers of their routes. */
class VideoHandlers implements Record<'create' | 'list' | 'query' | 'remove', Handler> {
  private readonly options: VideoHandlersOptions;
  private readonly tasks: Tasks<ArkTaskAbout, ArkTaskResult>;
  private readonly limiter: CreationLimiter;
  private readonly earlierQueries = createCallCounter();

  constructor(options: VideoHandlersOptions) {
    this.options = options;
    this.tasks = createTasks<ArkTaskAbout, ArkTaskResult>({
      now: options.now,
      retentionSeconds: TASK_RETENTION_SECONDS,
      newId: options.newTaskId ?? (() => newArkTaskId(options.now())),
      runningTasks: options.capacity?.runningTasks,
    });
    this.limiter = createCreationLimiter(options.now, options.capacity);
  }

  readonly create: Handler = ({ body, signal }) => {
    const request = readVideoRequest(body);
    const { model, prompt, callbackUrl } = request;
    const directives = parseDirectives(prompt);
    const tooMany = this.limiter.refusalOf({ model, prompt, directives });
    if (tooMany) throw tooManyCalls(tooMany);
    if (this.options.capacity?.whenFull === 'refuse' && this.tasks.isFull(model)) throw quotaExceeded();
    const creationError = creationErrorOf(directives);
    if (creationError) throw creationError;

    const { id, changesAt } = this.submit(request, directives);
    this.options.journal.add({
      id,
      upstream: 'modelark',
      model,
      prompt,
      ...(callbackUrl !== undefined && { callbackUrl }),
    });
    if (callbackUrl !== undefined) {
      this.options.callbacks.schedule({
        id,
        url: callbackUrl,
        mode: directives.callback,
        changesAt,
        query: (instant) => {
          const task = this.tasks.find(id, instant);
          return task && task.phase !== 'cancelled' ? renderArkTask(task) : undefined;
        },
      });
    }
    return heldBack(garbled({ id }, 'creation', directives), directives, signal);
  };

  readonly list: Handler = (call) =>
    listArkTasks(
      this.tasks.list().map(({ task }) => task),
      call,
    );

  readonly query: Handler = ({ params: { taskId = '' } }) => {
    this.options.journal.countQuery(taskId);
    const task = this.tasks.find(taskId);
    if (!task) throw taskNotFound(taskId);
    const { directives } = task.about;
    if (directives.isRevoked) throw authenticationError();
    if (this.earlierQueries.next(taskId) < directives.unavailableQueries)
      throw serviceUnavailable(directives);
    return garbled(renderArkTask(task), 'queries', directives);
  };

  readonly remove: Handler = ({ params: { taskId = '' } }) => {
    this.options.journal.countCancel(taskId);
    const phase = this.tasks.find(taskId)?.phase;
    if (phase === undefined) throw taskNotFound(taskId);
    if (phase === 'running' || phase === 'cancelled') throw cannotDelete(taskId, phase);
    if (phase === 'waiting') this.tasks.cancel(taskId);
    else this.tasks.remove(taskId);
    return {};
  };

  private finish(
    request: ArkVideoRequest,
    directives: Directives,
    endedAt: number,
  ): TaskOutcome<ArkTaskResult> {
    const failure = taskFailureOf(directives);
    if (failure) return { error: taskErrorOf(failure) };
    if (directives.isEmpty) return { result: { status: 'succeeded' } };
    const videoUrl = addVideoOutput(this.options.outputs, { ...request, directives }, endedAt);
    return { result: { status: 'succeeded', videoUrl } };
  }

  private submit(request: ArkVideoRequest, directives: Directives) {
    const { fail, delaySeconds = DEFAULT_TASK_SECONDS, queuedSeconds, isForgotten } = directives;
    const seconds = fail === 'timeout' ? Infinity : delaySeconds;
    const expiresInSeconds = request.expiresAfterSeconds;
    return this.tasks.submit({
      lane: request.model,
      about: { request, directives, seed: randomInt(MAX_SEED) },
      isForgotten,
      queuedSeconds,
      seconds: Math.min(seconds, expiresInSeconds),
      finish: (endedAt) =>
        seconds > expiresInSeconds
          ? { result: { status: 'expired' } }
          : this.finish(request, directives, endedAt),
    });
  }
}

/**
 * `POST`, `GET` and `DELETE /api/v3/contents/generations/tasks`, with callbacks for tasks that have a `callback_url`. There is
 * none for `cancelled`: ModelArk documents none.
 */
export const createVideoHandlers = (
  options: VideoHandlersOptions,
): Record<'create' | 'list' | 'query' | 'remove', Handler> => new VideoHandlers(options);
