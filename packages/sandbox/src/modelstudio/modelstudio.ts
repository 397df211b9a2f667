import { randomUUID } from 'node:crypto';
import type { Capacity } from '../capacity.ts';
import type { Call, Handler, Upstream } from '../http.ts';
import { type CheckInputs, type InputFile, takeAllInputs } from '../input-files.ts';
import { filesOfStudioImages, filesOfStudioVideo } from '../named-files.ts';
import type { Outputs } from '../outputs.ts';
import type { TaskJournal } from '../task-journal.ts';
import { createTaskRate } from '../task-rate.ts';
import { createTasks } from '../tasks.ts';
import * as errors from './errors.ts';
import { readImageRequest } from './image-request.ts';
import { createImageHandlers } from './images.ts';
import { createTaskList } from './task-list.ts';
import { createTaskCancel, createTaskQuery, type StudioTasks } from './tasks.ts';
import { findVideoModel } from './video-models.ts';
import { readVideoRequest } from './video-request.ts';
import { createVideoHandler } from './videos.ts';

/** Tasks are kept for 24 hours. */
const TASK_RETENTION_SECONDS = 24 * 60 * 60;

/** "20 QPS" for an account, https://www.alibabacloud.com/help/en/model-studio/manage-asynchronous-tasks. */
const TASK_CALLS_PER_SECOND = 20;

/** The hosts that all workspaces share, by their first label: `dashscope.aliyuncs.com`, `dashscope-intl.aliyuncs.com`. */
const SHARED_HOST = /^dashscope(?:-[a-z]+)?\./;

/** Throws for a preview model at a shared host. Any other host, also an address, is that of a workspace. */
const checkHost = ({ headers, body: { model } }: Call): void => {
  const isPreview = typeof model === 'string' && findVideoModel(model)?.isPreview === true;
  if (isPreview && SHARED_HOST.test(headers.host ?? '')) throw errors.modelNotFound(model);
};

/** Creates Alibaba Cloud Model Studio, with its base path `/api/v1`. */
export const createModelStudio = ({
  apiKey,
  outputs,
  journal,
  now,
  capacity,
  checkInputs = takeAllInputs,
  newTaskId,
}: {
  apiKey: string;
  outputs: Outputs;
  journal: TaskJournal;
  now: () => number;
  /** Default: without limits. */
  capacity?: Capacity | undefined;
  /** Default: files are taken as they are. */
  checkInputs?: CheckInputs | undefined;
  /** Returns an id for a task. Default: a UUID. */
  newTaskId?: () => string;
}): Upstream => {
  const tasks: StudioTasks = createTasks({
    now,
    retentionSeconds: TASK_RETENTION_SECONDS,
    runningTasks: capacity?.runningTasks,
    ...(newTaskId && { newId: newTaskId }),
  });
  const images = createImageHandlers({ outputs, tasks, journal, now, capacity });
  const videos = createVideoHandler({ outputs, tasks, journal, now, capacity });
  /** A call with the files that it names fetched, once nothing else is wrong with it. */
  const withFiles =
    (
      handle: Handler,
      read: (body: Call['body']) => unknown,
      filesOf: (body: Call['body']) => InputFile[],
    ): Handler =>
    async (call) => {
      checkHost(call);
      read(call.body);
      return handle({ ...call, inputs: await checkInputs(call.body.model, filesOf(call.body)) });
    };
  const rate = createTaskRate(now, capacity?.taskCallsPerSecond ?? TASK_CALLS_PER_SECOND);
  const limited =
    (handle: Handler): Handler =>
    (call) => {
      if (!rate.hasRoom()) throw errors.tooManyCalls({ reason: 'rate' });
      return handle(call);
    };
  const services = '^/api/v1/services/aigc';
  return {
    prefix: '/api/v1/',
    routes: [
      {
        method: 'POST',
        path: new RegExp(`${services}/multimodal-generation/generation$`),
        handle: withFiles(images.synchronous, readImageRequest, filesOfStudioImages),
      },
      {
        method: 'POST',
        path: new RegExp(`${services}/image-generation/generation$`),
        handle: withFiles(images.asynchronous, readImageRequest, filesOfStudioImages),
      },
      {
        method: 'POST',
        path: new RegExp(`${services}/video-generation/video-synthesis$`),
        handle: withFiles(videos, readVideoRequest, filesOfStudioVideo),
      },
      { method: 'GET', path: /^\/api\/v1\/tasks\/?$/, handle: limited(createTaskList(tasks)) },
      {
        method: 'GET',
        path: /^\/api\/v1\/tasks\/(?<taskId>[^/]+)$/,
        handle: limited(createTaskQuery(tasks, journal)),
      },
      {
        method: 'POST',
        path: /^\/api\/v1\/tasks\/(?<taskId>[^/]+)\/cancel$/,
        handle: limited(createTaskCancel(tasks, journal)),
      },
    ],
    newRequestId: randomUUID,
    checkKey: ({ authorization }) => {
      if (authorization !== `Bearer ${apiKey}`) throw errors.invalidApiKey();
    },
    renderError: errors.renderError,
    errors: {
      unknownRoute: errors.unknownRoute,
      malformedBody: errors.malformedBody,
      bodyTooLarge: errors.bodyTooLarge,
      internal: errors.internalError,
    },
  };
};
