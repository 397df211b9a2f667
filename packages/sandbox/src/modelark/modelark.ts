import { randomBytes } from 'node:crypto';
import type { Callbacks } from '../callbacks.ts';
import type { Capacity } from '../capacity.ts';
import type { Upstream } from '../http.ts';
import type { Outputs } from '../outputs.ts';
import type { TaskJournal } from '../task-journal.ts';
import * as errors from './errors.ts';
import { createImageHandler } from './images.ts';
import { createVideoHandlers } from './videos.ts';

/** Creates BytePlus ModelArk, with its base path `/api/v3`. */
export const createModelArk = (options: {
  apiKey: string;
  outputs: Outputs;
  journal: TaskJournal;
  callbacks: Callbacks;
  now: () => number;
  /** Default: without limits. */
  capacity?: Capacity | undefined;
  /** Returns an id for a task. Default: one in ModelArk's format. */
  newTaskId?: () => string;
}): Upstream => {
  const videos = createVideoHandlers(options);
  const tasks = '^/api/v3/contents/generations/tasks';
  return {
    prefix: '/api/v3/',
    routes: [
      { method: 'POST', path: /^\/api\/v3\/images\/generations$/, handle: createImageHandler(options) },
      { method: 'POST', path: new RegExp(`${tasks}$`), handle: videos.create },
      { method: 'GET', path: new RegExp(`${tasks}/(?<taskId>[^/]+)$`), handle: videos.query },
      { method: 'DELETE', path: new RegExp(`${tasks}/(?<taskId>[^/]+)$`), handle: videos.remove },
    ],
    newRequestId: () => `02${options.now()}${randomBytes(16).toString('hex')}`,
    checkKey: ({ authorization }) => {
      if (authorization !== `Bearer ${options.apiKey}`) throw errors.authenticationError();
    },
    renderError: errors.renderError,
    errors: {
      unknownRoute: errors.unknownRoute,
      malformedBody: errors.malformedBody,
      bodyTooLarge: errors.bodyTooLarge,
      internal: errors.internalServiceError,
    },
  };
};
