import { randomUUID } from 'node:crypto';
import type { Capacity } from '../capacity.ts';
import type { Call, Handler, Route, Upstream } from '../http.ts';
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

/** What `createModelStudio` works with. */
interface ModelStudioOptions {
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
}

const SERVICES = '^/api/v1/services/aigc';

/** A handler that fetches the files named by a call before answering, once the call has no other error. */
const withFiles =
  (
    checkInputs: CheckInputs,
    handle: Handler,
    read: (body: Call['body']) => unknown,
    filesOf: (body: Call['body']) => InputFile[],
  ): Handler =>
  async (call) => {
    checkHost(call);
    read(call.body);
    return handle({ ...call, inputs: await checkInputs(call.body.model, filesOf(call.body)) });
  };

const creationRoutes = (tasks: StudioTasks, options: ModelStudioOptions): Route[] => {
  const { outputs, journal, now, capacity, checkInputs = takeAllInputs } = options;
  const images = createImageHandlers({ outputs, tasks, journal, now, capacity });
  const videos = createVideoHandler({ outputs, tasks, journal, now, capacity });
  return [
    {
      method: 'POST',
      path: new RegExp(`${SERVICES}/multimodal-generation/generation$`),
      handle: withFiles(checkInputs, images.synchronous, readImageRequest, filesOfStudioImages),
    },
    {
      method: 'POST',
      path: new RegExp(`${SERVICES}/image-generation/generation$`),
      handle: withFiles(checkInputs, images.asynchronous, readImageRequest, filesOfStudioImages),
    },
    {
      method: 'POST',
      path: new RegExp(`${SERVICES}/video-generation/video-synthesis$`),
      handle: withFiles(checkInputs, videos, readVideoRequest, filesOfStudioVideo),
    },
  ];
};

/** The routes of tasks, which share one rate. */
const taskRoutes = (tasks: StudioTasks, { journal, now, capacity }: ModelStudioOptions): Route[] => {
  const rate = createTaskRate(now, capacity?.taskCallsPerSecond ?? TASK_CALLS_PER_SECOND);
  const limited =
    (handle: Handler): Handler =>
    (call) => {
      if (!rate.hasRoom()) throw errors.tooManyCalls({ reason: 'rate' });
      return handle(call);
    };
  return [
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
  ];
};

/** Creates Alibaba Cloud Model Studio, with its base path `/api/v1`. */
export const createModelStudio = (options: ModelStudioOptions): Upstream => {
  const { apiKey, now, capacity, newTaskId } = options;
  const tasks: StudioTasks = createTasks({
    now,
    retentionSeconds: TASK_RETENTION_SECONDS,
    runningTasks: capacity?.runningTasks,
    ...(newTaskId && { newId: newTaskId }),
  });
  return {
    prefix: '/api/v1/',
    routes: [...creationRoutes(tasks, options), ...taskRoutes(tasks, options)],
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
