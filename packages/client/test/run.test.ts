import { describe, expect, test } from '@jest/globals';
import { GenerationServiceError, type NewGeneration, RequestFailedError } from '../src/index.ts';
import { BODY, errorOf, startServer } from './a-client.ts';
import { type Behavior, inTurn, json, refuse } from './server.ts';
import { watchTimers } from './timers.ts';

const { server, aClient, keysSeen } = await startServer();

/** Serves the given models, and a request that goes through the given statuses in turn. */
const serve = (models: [id: string, type: string][], statuses: Behavior[]): void => {
  const status = inTurn(...statuses);
  server.answer((seen, response) => {
    const data = models.map(([id, type]) => ({ id, type }));
    if (seen.path === '/v1/models') return json(200, { data })(seen, response);
    const requestId = seen.path.startsWith('/v1/videos') ? 'vid_1' : 'img_1';
    if (seen.method === 'POST') return json(202, { requestId, status: 'queued' })(seen, response);
    return status(seen, response);
  });
};
const callsSeen = () => server.seen.map(({ method, path }) => `${method} ${path}`);
const succeeded = (more: object) => json(200, { status: 'succeeded', ...more });
const MODELS: [string, string][] = [
  ['xZI1.0Pro', 'image'],
  ['xW3.0s', 'video'],
];

describe('run', () => {
  test('creates images, waits, and returns the record that succeeded', async () => {
    watchTimers();
    serve(MODELS, [json(200, { status: 'processing' }), succeeded({ images: [{ id: 'img_1_0' }] })]);
    const statuses: string[] = [];
    const { images } = await aClient().run(
      { ...BODY, model: 'xZI1.0Pro' },
      { idempotencyKey: 'order-17', onStatus: ({ status }) => statuses.push(status) },
    );

    expect(images).toEqual([{ id: 'img_1_0' }]);
    expect(statuses).toEqual(['processing', 'succeeded']);
    expect(callsSeen()).toEqual([
      ...['GET /v1/models', 'POST /v1/generations', 'GET /v1/generations/img_1', 'GET /v1/generations/img_1'],
    ]);
    expect(keysSeen()[1]).toBe('order-17');
  });

  test('creates a video with a model of videos, and reads the models once', async () => {
    watchTimers();
    serve(MODELS, [succeeded({ videos: [{ id: 'vid_1_0' }] })]);
    const client = aClient();
    const body = { ...BODY, model: 'xW3.0s' } as const;
    const { videos } = await client.run(body);
    await client.run(body);

    expect(videos).toEqual([{ id: 'vid_1_0' }]);
    const made = ['POST /v1/videos', 'GET /v1/videos/vid_1'];
    expect(callsSeen()).toEqual(['GET /v1/models', ...made, ...made]);
  });

  test('reads the models again for one that was not among them', async () => {
    watchTimers();
    const models = [...MODELS];
    serve(models, [succeeded({ images: [] })]);
    const client = aClient();
    const body: NewGeneration = { ...BODY, model: 'new' };

    const error = await errorOf(client.run(body));
    expect(error).toBeInstanceOf(GenerationServiceError);
    expect(error.message).toBe('The service does not offer the model new.');
    models.push(['new', 'image']);
    expect(await client.run(body)).toMatchObject({ images: [] });
    expect(callsSeen().filter((call) => call.startsWith('POST'))).toEqual(['POST /v1/generations']);
  });

  test('throws when the request fails, and what a refusal throws', async () => {
    watchTimers();
    const error = { code: 'content_policy', message: 'No.' };
    serve(MODELS, [json(200, { requestId: 'img_1', status: 'failed', error })]);
    expect(await errorOf(aClient().run({ ...BODY }))).toBeInstanceOf(RequestFailedError);

    server.answer(refuse(403, 'forbidden'));
    expect((await errorOf(aClient().run({ ...BODY }))).name).toBe('ForbiddenError');
    expect(server.seen).toHaveLength(1);
  });

  test('ends when the signal aborts', async () => {
    const abort = new AbortController();
    serve(MODELS, [json(200, { status: 'processing' })]);
    const running = errorOf(aClient().run({ ...BODY }, { signal: abort.signal, intervalSeconds: 60 }));
    abort.abort();

    expect((await running).name).toBe('AbortedError');
  });
});
