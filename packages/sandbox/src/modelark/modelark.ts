import { randomBytes } from 'node:crypto';
import type { Callbacks } from '../callbacks.ts';
import type { Capacity } from '../capacity.ts';
import type { Call, Handler, Upstream } from '../http.ts';
import { type CheckInputs, type InputFile, takeAllInputs } from '../input-files.ts';
import { filesOfArkImages, filesOfArkVideo } from '../named-files.ts';
import type { Outputs } from '../outputs.ts';
import type { TaskJournal } from '../task-journal.ts';
import * as errors from './errors.ts';
import { readImageRequest } from './image-request.ts';
import { createImageHandler } from './images.ts';
import { invalidInputFile } from './input-errors.ts';
import { readVideoRequest } from './video-request.ts';
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
  /** Default: files are taken as they are. */
  checkInputs?: CheckInputs | undefined;
  /** Returns an id for a task. Default: one in ModelArk's format. */
  newTaskId?: () => string;
}): Upstream => {
  const videos = createVideoHandlers(options);
  const { checkInputs = takeAllInputs } = options;
  /** A call that is refused when a file that it names cannot be used. */
  const withFiles =
    (
      handle: Handler,
      read: (body: Call['body']) => unknown,
      filesOf: (body: Call['body']) => InputFile[],
    ): Handler =>
    async (call) => {
      // What else is wrong comes first.
      read(call.body);
      const { problem } = await checkInputs(call.body.model, filesOf(call.body));
      if (problem) throw invalidInputFile(problem);
      return handle(call);
    };
  const createImages = withFiles(createImageHandler(options), readImageRequest, filesOfArkImages);
  const createVideo = withFiles(videos.create, readVideoRequest, filesOfArkVideo);
  const tasks = '^/api/v3/contents/generations/tasks';
  return {
    prefix: '/api/v3/',
    routes: [
      { method: 'POST', path: /^\/api\/v3\/images\/generations$/, handle: createImages },
      { method: 'POST', path: new RegExp(`${tasks}$`), handle: createVideo },
      { method: 'GET', path: new RegExp(`${tasks}$`), handle: videos.list },
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
