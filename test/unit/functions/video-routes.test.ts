import '../builders/environment.ts';
import { createHmac } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { VideoRequest } from '../../../core/requests/request-rules.ts';
import { requestKey } from '../../../core/table/keys.ts';
import { handler as getVideo } from '../../../functions/api/get-video.ts';
import { handler as receiveCallback } from '../../../functions/api/receive-callback.ts';
import { anImageRequest, aStoredVideo, REQUEST_ID, VIDEO_ID } from '../builders/entities.ts';
import { withEnvironment } from '../builders/environment.ts';
import { type ApiEvent, type Handler, RouteWorld } from '../builders/route-world.ts';
import { stopTime } from '../builders/stop-time.ts';
import { accepted, WaitingRequest } from '../builders/waiting-request.ts';
import { LoopbackServer } from '../servers/loopback-server.ts';

const world = new RouteWorld();
const { memory, executions } = world;
const upstream = await new LoopbackServer().start();
const request = new WaitingRequest(memory);
beforeEach(() => {
  world.reset();
  upstream.reset();
  upstream.answer(200, { output: { task_id: 'task-1', task_status: 'RUNNING' } });
});
afterAll(() => upstream.close());

/** A video whose task is at the stand-in of its provider. */
const given = (overrides: Partial<VideoRequest> = {}) =>
  request.given(overrides).withAttempt({ ...accepted(), baseUrl: upstream.url });
const call = (handler: Handler, event: ApiEvent) =>
  withEnvironment({ MODELSTUDIO_BASE_URL: upstream.url }, () => world.call(handler, event));
const inSeconds = world.inSeconds.bind(world);

describe('GET /v1/videos/{requestId}', () => {
  const get = (requestId = VIDEO_ID) => call(getVideo, { pathParameters: { requestId } });
  const succeeded = (expiresInSeconds: number): Partial<VideoRequest> => ({
    status: 'succeeded',
    outputs: [aStoredVideo()],
    finishedAt: inSeconds(-60),
    expiresAt: inSeconds(expiresInSeconds),
    costThousandths: 50_000,
    ttl: Date.parse(inSeconds(expiresInSeconds + 86_400)) / 1000,
  });

  test('returns the record with a signed URL and queries no provider', async () => {
    given(succeeded(100));

    const { status, body } = await get();

    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'succeeded', cost: 50, finishedAt: inSeconds(-60) });
    expect(body.videos).toMatchObject([
      { id: `${VIDEO_ID}_0`, duration: 5.04, resolution: '1080p', expiresAt: inSeconds(100) },
    ]);
    const url = new URL(body.videos[0].url);
    expect(url.origin + url.pathname).toBe(`https://files.example.com/${aStoredVideo().objectKey}`);
    expect(upstream.requests).toEqual([]);
  });

  test('queries the provider of an unfinished one, once in 10 s, and wakes the execution', async () => {
    given().waiting({ taskToken: 'token-1', waitingSince: world.now.toISOString() });
    executions.wait('token-1');

    expect((await get()).body.status).toBe('processing');
    stopTime(new Date(world.now.getTime() + 9_999));
    await get();
    expect(upstream.requests.map(({ path }) => path)).toEqual(['/api/v1/tasks/task-1']);
    expect(executions.woken).toEqual([]);

    const output = { task_status: 'SUCCEEDED', video_url: 'https://studio.example.com/video.mp4' };
    upstream.answer(200, { output });
    stopTime(new Date(world.now.getTime() + 10_000));
    expect((await get()).body.status).toBe('processing');
    expect(upstream.requests).toHaveLength(2);
    expect(executions.woken).toEqual([{ taskToken: 'token-1', output: { result: { next: 'store' } } }]);
  });

  test('of a queued one queries no provider and writes nothing', async () => {
    given({ status: 'queued' });

    expect((await get()).body.pollUrl).toBe(`https://api.example.com/v1/videos/${VIDEO_ID}`);
    expect(upstream.requests).toEqual([]);
    expect(memory.calls()).toEqual({ UpdateCommand: 1, GetCommand: 3 });
  });

  test.each<[string, string]>([
    ['is unknown', 'vid_01JD4KXQ8M0000000000000007'],
    ['is an image', REQUEST_ID],
    ['is no id at all', 'x'],
  ])('answers 404 to an id that %s', async (_, requestId) => {
    memory.put(requestKey(REQUEST_ID), anImageRequest());

    expect(await get(requestId)).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found', message: 'There is no such video.' } },
    });
  });

  test('answers 404 to another account’s id and queries no provider', async () => {
    given({ accountId: 'acc_01JD4KXQ8M0000000000000009' });

    expect((await get()).status).toBe(404);
    expect(upstream.requests).toEqual([]);
    expect(request.wait()).toBeUndefined();
  });
});

describe('POST /callbacks/{provider}/{requestId}/{token}', () => {
  const token = createHmac('sha256', 'secret').update(`modelstudio\n${VIDEO_ID}`).digest('hex');
  const receive = (pathParameters = {}, event = {}) =>
    call(receiveCallback, {
      headers: {},
      pathParameters: { provider: 'modelstudio', requestId: VIDEO_ID, token, ...pathParameters },
      ...event,
    });

  test('answers 200 without a key and queries the provider, whatever the body', async () => {
    given().waiting({ taskToken: 'token-1', waitingSince: world.now.toISOString() });
    executions.wait('token-1');

    for (const [index, body] of [undefined, '{', { id: 'cgt-1', status: 'succeeded' }].entries()) {
      stopTime(new Date(world.now.getTime() + index * 2_000));
      expect(await receive({}, { body })).toMatchObject({ status: 200, body: {} });
    }
    expect(upstream.requests).toHaveLength(3);
    expect(request.record()).toMatchObject({ status: 'processing' });
    expect(request.attempt()).toMatchObject({ outcome: { kind: 'accepted' } });
  });

  test.each([
    { token: 'x' },
    { token: token.slice(0, 63) },
    { requestId: REQUEST_ID },
    { provider: 'nobody' },
    { provider: 'modelark' },
  ])('answers 404 to a forged one: %j', async (forged) => {
    given();

    expect(await receive(forged)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    expect(upstream.requests).toEqual([]);
    expect(request.wait()).toBeUndefined();
  });
});
