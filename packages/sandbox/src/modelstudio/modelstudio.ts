import { randomUUID } from 'node:crypto';
import type { Capacity } from '../capacity.ts';
import type { Upstream } from '../http.ts';
import type { Outputs } from '../outputs.ts';
import type { TaskJournal } from '../task-journal.ts';
import { createTasks } from '../tasks.ts';
import * as errors from './errors.ts';
import { createImageHandlers } from './images.ts';
import { createTaskCancel, createTaskQuery, type StudioTasks } from './tasks.ts';
import { createVideoHandler } from './videos.ts';

/** Tasks are kept for 24 hours. */
const TASK_RETENTION_SECONDS = 24 * 60 * 60;

/** Creates Alibaba Cloud Model Studio, with its base path `/api/v1`. */
export const createModelStudio = ({
  apiKey,
  outputs,
  journal,
  now,
  capacity,
  newTaskId,
}: {
  apiKey: string;
  outputs: Outputs;
  journal: TaskJournal;
  now: () => number;
  /** Default: without limits. */
  capacity?: Capacity | undefined;
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
  const services = '^/api/v1/services/aigc';
  return {
    prefix: '/api/v1/',
    routes: [
      {
        method: 'POST',
        path: new RegExp(`${services}/multimodal-generation/generation$`),
        handle: images.synchronous,
      },
      {
        method: 'POST',
        path: new RegExp(`${services}/image-generation/generation$`),
        handle: images.asynchronous,
      },
      {
        method: 'POST',
        path: new RegExp(`${services}/video-generation/video-synthesis$`),
        handle: createVideoHandler({ outputs, tasks, journal, now, capacity }),
      },
      {
        method: 'GET',
        path: /^\/api\/v1\/tasks\/(?<taskId>[^/]+)$/,
        handle: createTaskQuery(tasks, journal),
      },
      {
        method: 'POST',
        path: /^\/api\/v1\/tasks\/(?<taskId>[^/]+)\/cancel$/,
        handle: createTaskCancel(tasks, journal),
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
