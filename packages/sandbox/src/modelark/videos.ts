import { randomInt } from 'node:crypto';
import { createCallCounter } from '../call-counter.ts';
import type { Callbacks } from '../callbacks.ts';
import { type Directives, parseDirectives } from '../directives.ts';
import type { Handler } from '../http.ts';
import type { Outputs } from '../outputs.ts';
import type { TaskJournal } from '../task-journal.ts';
import { createTasks, DEFAULT_TASK_SECONDS, type TaskOutcome } from '../tasks.ts';
import { addVideoOutput } from '../video-outputs.ts';
import {
  inputTextSensitive,
  internalServiceError,
  outputVideoSensitive,
  serverOverloaded,
  taskErrorOf,
  taskNotFound,
} from './errors.ts';
import { type ArkVideoRequest, readVideoRequest } from './video-request.ts';
import { type ArkTaskAbout, type ArkTaskResult, newArkTaskId, renderArkTask } from './video-tasks.ts';

/** Task records live seven days. */
const TASK_RETENTION_SECONDS = 7 * 24 * 60 * 60;

const LARGEST_SEED = 2 ** 32 - 1;

/** A failure that the prompt asks for without a delay comes at once, in answer to the creation. */
const earlyRefusalOf = ({ fail, delaySeconds = 0 }: Directives) => {
  if (delaySeconds > 0) return undefined;
  if (fail === 'provider_error') return internalServiceError();
  if (fail === 'content_policy') return inputTextSensitive();
  return undefined;
};

/** A failure with a delay is found while the task is worked on. */
const lateRefusalOf = ({ fail }: Directives) => {
  if (fail === 'provider_error') return internalServiceError();
  if (fail === 'content_policy') return outputVideoSensitive();
  return undefined;
};

/** `POST /api/v3/contents/generations/tasks` and the query of such a task, with callbacks where a task asks for them. */
export const createVideoHandlers = ({
  outputs,
  journal,
  callbacks,
  now,
}: {
  outputs: Outputs;
  journal: TaskJournal;
  callbacks: Callbacks;
  now: () => number;
}): Record<'create' | 'query', Handler> => {
  const earlierCalls = createCallCounter();
  const tasks = createTasks<ArkTaskAbout, ArkTaskResult>({
    now,
    retentionSeconds: TASK_RETENTION_SECONDS,
    newId: () => newArkTaskId(now()),
  });

  const finish = (
    request: ArkVideoRequest,
    directives: Directives,
    endedAt: number,
  ): TaskOutcome<ArkTaskResult> => {
    const refusal = lateRefusalOf(directives);
    if (refusal) return { error: taskErrorOf(refusal) };
    if (directives.isEmpty) return { result: { status: 'succeeded' } };
    const videoUrl = addVideoOutput(outputs, { ...request, directives }, endedAt);
    return { result: { status: 'succeeded', videoUrl } };
  };

  const submit = (request: ArkVideoRequest, directives: Directives) => {
    const { fail, delaySeconds = DEFAULT_TASK_SECONDS, isForgotten } = directives;
    const seconds = fail === 'timeout' ? Infinity : delaySeconds;
    const expiresInSeconds = request.expiresAfterSeconds;
    return tasks.submit({
      about: { request, directives, seed: randomInt(LARGEST_SEED) },
      isForgotten,
      seconds: Math.min(seconds, expiresInSeconds),
      finish: (endedAt) =>
        seconds > expiresInSeconds ? { result: { status: 'expired' } } : finish(request, directives, endedAt),
    });
  };

  return {
    create: ({ body }) => {
      const request = readVideoRequest(body);
      const { model, prompt, callbackUrl } = request;
      const directives = parseDirectives(prompt);
      const { flakyCalls } = directives;
      if (flakyCalls > 0 && earlierCalls.next(`${model}\n${prompt}`) < flakyCalls) throw serverOverloaded();
      const refusal = earlyRefusalOf(directives);
      if (refusal) throw refusal;

      const { id, changesAt } = submit(request, directives);
      journal.opened({
        id,
        upstream: 'modelark',
        model,
        prompt,
        ...(callbackUrl !== undefined && { callbackUrl }),
      });
      if (callbackUrl !== undefined) {
        callbacks.follow({
          id,
          url: callbackUrl,
          mode: directives.callback,
          changesAt,
          lookAt: (instant) => {
            const task = tasks.find(id, instant);
            return task && renderArkTask(task);
          },
        });
      }
      return { id };
    },

    query: ({ params: { taskId = '' } }) => {
      journal.queried(taskId);
      const task = tasks.find(taskId);
      if (!task) throw taskNotFound(taskId);
      return renderArkTask(task);
    },
  };
};
