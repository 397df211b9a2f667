import { randomUUID } from 'node:crypto';
import {
  createTasks,
  parseDirectives,
  type Upstream,
  UpstreamError,
  type UpstreamParts,
} from '@generation-service/sandbox/upstream';
import { aVideo } from '../../../../packages/media/test/videos.ts';

const notFound = () => new UpstreamError(404, 'Not found', 'There is no such prediction.');

/** The third provider as the sandbox stands in for it: its key is the sandbox's, its path `/relay`. */
export const createRelay = ({ apiKey, outputs, callbacks, now }: UpstreamParts): Upstream => {
  const tasks = createTasks<{ prompt: string }, string>({ now, retentionSeconds: 3600 });
  const find = (id = '') => {
    const task = tasks.find(id);
    if (!task) throw notFound();
    return task;
  };
  const render = (id: string | undefined) => {
    const task = find(id);
    const words = { waiting: 'starting', running: 'processing', cancelled: 'canceled' } as const;
    const status = task.phase === 'succeeded' || task.phase === 'failed' ? task.phase : words[task.phase];
    return {
      ...{ id: task.id, status },
      output: task.phase === 'succeeded' ? [task.result] : null,
      error: task.phase === 'failed' ? task.error.code : null,
    };
  };
  return {
    prefix: '/relay/',
    routes: [
      {
        method: 'POST',
        path: /^\/relay\/predictions$/,
        handle: ({ body }) => {
          const { prompt, seconds } = body.input as { prompt: string; seconds: number };
          const { delaySeconds = 0, fail } = parseDirectives(prompt);
          const produce = () => aVideo({ seconds });
          const { id, changesAt } = tasks.submit({
            about: { prompt },
            seconds: delaySeconds,
            finish: () =>
              fail === 'content_policy'
                ? { error: { code: 'E005: flagged', message: '' } }
                : { result: outputs.add({ contentType: 'video/mp4', extension: 'mp4', produce }) },
          });
          // One callback, at the end.
          callbacks.schedule({
            ...{ id, url: String(body.webhook), mode: undefined },
            changesAt: changesAt.slice(-1),
            query: () => render(id),
          });
          return render(id);
        },
      },
      {
        method: 'GET',
        path: /^\/relay\/predictions\/(?<id>[^/]+)$/,
        handle: ({ params }) => render(params.id),
      },
      {
        method: 'POST',
        path: /^\/relay\/predictions\/(?<id>[^/]+)\/cancel$/,
        handle: ({ params: { id = '' } }) => {
          find(id);
          if (!tasks.cancel(id)) throw new UpstreamError(409, 'Prediction has ended', 'It has ended.');
          return render(id);
        },
      },
    ],
    newRequestId: randomUUID,
    checkKey: ({ authorization }) => {
      if (authorization !== `Bearer ${apiKey}`) throw new UpstreamError(401, 'Unauthenticated', 'No key.');
    },
    renderError: ({ status, code, message }) => ({ title: code, detail: message, status }),
    errors: {
      unknownRoute: notFound,
      malformedBody: () => new UpstreamError(400, 'Malformed body', 'It is no JSON object.'),
      bodyTooLarge: () => new UpstreamError(413, 'Body too large', 'It is too large.'),
      internal: () => new UpstreamError(500, 'Internal server error', 'It broke.'),
    },
  };
};
