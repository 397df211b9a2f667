import '../builders/environment.ts';
import { createHmac } from 'node:crypto';
import { clearCaches } from '@aws-lambda-powertools/parameters';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { endUserKey, openWorkListing, requestKey } from '../../../core/keys.ts';
import type { VideoRequest } from '../../../core/requests.ts';
import { table } from '../../../core/table.ts';
import { handler as createVideo } from '../../../functions/api/create-video.ts';
import { handler as getGeneration } from '../../../functions/api/get-generation.ts';
import { handler as getVideo } from '../../../functions/api/get-video.ts';
import { handler as receiveCallback } from '../../../functions/api/receive-callback.ts';
import { aLambdaContext, anApiEvent, read, stopTime } from '../builders/api-events.ts';
import { aVideoBody, urlsOf } from '../builders/bodies.ts';
import { aCaller } from '../builders/callers.ts';
import { NOW } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anEndUser,
  anImageRequest,
  aStoredVideo,
  EMAIL,
  REQUEST_ID,
  VIDEO_ID,
} from '../builders/entities.ts';
import { withEnvironment } from '../builders/environment.ts';
import { aSigningKey } from '../builders/signing-key.ts';
import { WaitingRequest } from '../builders/waiting-request.ts';
import { LoopbackServer } from '../fakes/loopback-server.ts';
import { MemoryExecutions } from '../fakes/memory-executions.ts';
import { MemoryTable } from '../fakes/memory-table.ts';
import { MemorySecrets } from '../fakes/secrets.ts';

const memory = new MemoryTable(table);
const executions = new MemoryExecutions();
const secrets = new MemorySecrets();
const upstream = await new LoopbackServer().start();
const request = new WaitingRequest(memory);
let now = NOW;
beforeEach(() => {
  clearCaches();
  memory.reset();
  executions.reset();
  secrets.reset();
  secrets.set('arn:delivery-key', aSigningKey().privateKeyPem);
  secrets.set('arn:callback-secret', 'secret');
  secrets.set('arn:modelark-key', 'key');
  secrets.set('arn:modelstudio-key', 'key');
  upstream.reset();
  upstream.answer(200, { output: { task_id: 'task-1', task_status: 'RUNNING' } });
  // Which providers have a credential is remembered for 5 min: each test starts an hour later.
  now = new Date(now.getTime() + 3_600_000);
  stopTime(now);
});
afterAll(() => upstream.close());

type Handler = typeof getVideo;
const call = async (handler: Handler, event: Parameters<typeof anApiEvent>[0] = {}, caller = {}) => {
  const { headers } = await aCaller(memory, caller);
  memory.client.resetHistory();
  return withEnvironment({ MODELSTUDIO_BASE_URL: upstream.url }, async () =>
    read(await handler(anApiEvent({ headers, ...event }), aLambdaContext())),
  );
};
const inSeconds = (seconds: number): string => new Date(now.getTime() + seconds * 1000).toISOString();

describe('POST /v1/videos', () => {
  const create = (body: unknown, caller = {}, rest = {}) => call(createVideo, { body, ...rest }, caller);

  test('answers 202 with the queued record, where to look for it and when', async () => {
    const { status, headers, body } = await create(aVideoBody({ durationSec: 7 }));

    const pollUrl = `https://api.example.com/v1/videos/${body.requestId}`;
    expect(status).toBe(202);
    expect(body).toStrictEqual({
      requestId: expect.stringMatching(/^vid_[0-9A-HJKMNP-TV-Z]{26}$/),
      model: 'xW3.0s',
      status: 'queued',
      prompt: 'waves',
      endUserEmail: EMAIL,
      createdAt: now.toISOString(),
      pollUrl,
    });
    expect(headers).toMatchObject({ Location: pollUrl, 'Retry-After': '5' });
    expect(memory.get(requestKey(body.requestId))).toMatchObject({
      ...openWorkListing(body.requestId, now.toISOString()),
      kind: 'video',
      status: 'queued',
      debitThousandths: 70_000,
    });
    expect(executions.names('generation')).toEqual([body.requestId]);
  });

  test('takes two round trips to the table', async () => {
    await create(aVideoBody());

    expect(memory.calls()).toEqual({
      UpdateCommand: 1,
      GetCommand: 1,
      BatchGetCommand: 1,
      TransactWriteCommand: 1,
    });
  });

  test.each([
    ['no JSON', '{', { body: 'must be JSON' }],
    ['no body', undefined, { model: 'is required', prompt: 'is required', endUserEmail: 'is required' }],
    [
      'wrong fields',
      aVideoBody({ durationSec: 31, ratio: '2:1', n: 1 }),
      { durationSec: expect.any(String), ratio: expect.any(String), n: 'is not a known field' },
    ],
    ['an image model', aVideoBody({ model: 'xQI3Pro' }), { model: 'is not a video model' }],
  ])('answers 400 to %s, naming what is wrong', async (_, body, fields) => {
    const answer = await create(body);

    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: 'validation_error', fields });
    expect(Object.keys(answer.body.error.fields).sort()).toEqual(Object.keys(fields).sort());
    expect(memory.transactions).toEqual([]);
  });

  test('answers 400 for a reference video that is not there to be measured', async () => {
    const { status, body } = await create(
      aVideoBody({ referenceVideos: ['https://127.0.0.1/clip.mp4'], prompt: '' }),
    );

    expect(status).toBe(400);
    expect(Object.keys(body.error.fields).sort()).toEqual(['prompt', 'referenceVideos[0]']);
    expect(memory.transactions).toEqual([]);
  });

  test('answers 400 to a query and to a malformed key, beside what is wrong with the body', async () => {
    const headers = { ...(await aCaller(memory)).headers, 'Idempotency-Key': '' };
    const { body } = await create(aVideoBody({ durationSec: 1 }), {}, { query: { n: ['2'] }, headers });

    expect(Object.keys(body.error.fields).sort()).toEqual(['Idempotency-Key', 'durationSec', 'n']);
  });

  test('refuses a caller without the scope, a blocked end-user and an empty balance', async () => {
    expect((await create(aVideoBody(), { scopes: ['generations:read'] })).status).toBe(403);
    expect((await create(aVideoBody(), { account: { balanceThousandths: 49_999 } })).status).toBe(402);
    memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser({ blockedAt: now.toISOString() }));
    expect((await create(aVideoBody())).status).toBe(403);
    expect(memory.transactions).toEqual([]);
  });

  test('answers the first 202 again to the same key and body, and 409 to another body', async () => {
    const createNamed = async (body: Record<string, unknown>) => {
      const headers = { ...(await aCaller(memory)).headers, 'Idempotency-Key': 'key-1' };
      return call(createVideo, { body, headers });
    };
    const first = await createNamed(aVideoBody());

    expect(await createNamed(aVideoBody())).toStrictEqual({
      ...first,
      headers: { ...first.headers, 'Idempotency-Replayed': 'true' },
    });
    expect((await createNamed(aVideoBody({ referenceImages: urlsOf('png', 1) }))).status).toBe(409);
    expect(memory.transactions).toHaveLength(1);
  });
});

describe('GET /v1/videos/{requestId}', () => {
  const get = (requestId = VIDEO_ID, caller = {}) =>
    call(getVideo, { pathParameters: { requestId } }, caller);
  const succeeded = (expiresInSeconds: number): Partial<VideoRequest> => ({
    status: 'succeeded',
    outputs: [aStoredVideo()],
    finishedAt: inSeconds(-60),
    expiresAt: inSeconds(expiresInSeconds),
    costThousandths: 50_000,
    ttl: Date.parse(inSeconds(expiresInSeconds + 86_400)) / 1000,
  });

  test('answers the record with a signed URL, and asks nobody', async () => {
    request.given(succeeded(100));

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

  test.each([
    [1, 200, 'succeeded'],
    [0, 200, 'expired'],
    [-86_399, 200, 'expired'],
    [-86_400, 404, undefined],
  ])('answers %p s before its expiry with %p %p', async (seconds, status, expected) => {
    request.given(succeeded(seconds));
    const answer = await get();

    expect([answer.status, answer.body.status]).toEqual([status, expected]);
  });

  test('of one that is under way asks the provider, once in 10 s, and wakes the execution', async () => {
    request.given().waiting({ taskToken: 'token-1', waitingSince: now.toISOString() });
    executions.wait('token-1');

    expect((await get()).body.status).toBe('processing');
    stopTime(new Date(now.getTime() + 9_999));
    await get();
    expect(upstream.requests.map(({ path }) => path)).toEqual(['/api/v1/tasks/task-1']);
    expect(executions.heartbeats).toEqual(['token-1']);

    const output = { task_status: 'SUCCEEDED', video_url: 'https://studio.example.com/video.mp4' };
    upstream.answer(200, { output });
    stopTime(new Date(now.getTime() + 10_000));
    expect((await get()).body.status).toBe('processing');
    expect(upstream.requests).toHaveLength(2);
    expect(executions.woken).toEqual([{ taskToken: 'token-1', output: { result: { next: 'store' } } }]);
  });

  test('is answered although the provider is out of reach', async () => {
    request.given().waiting({ taskToken: 'token-1', waitingSince: now.toISOString() });
    upstream.respond = (_, response) => response.socket?.destroy();

    expect(await get()).toMatchObject({ status: 200, body: { status: 'processing' } });
  });

  test('of one that is queued asks nobody and writes nothing', async () => {
    request.given({ status: 'queued' });

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

  test('answers 404 to another account’s id, and asks nobody about it', async () => {
    request.given({ accountId: 'acc_01JD4KXQ8M0000000000000009' });

    expect((await get()).status).toBe(404);
    expect(upstream.requests).toEqual([]);
    expect(request.wait()).toBeUndefined();
  });

  test('refuses a caller without key or scope, and an unknown query parameter', async () => {
    request.given();
    const pathParameters = { requestId: VIDEO_ID };

    expect((await call(getVideo, { pathParameters, headers: {} })).status).toBe(401);
    expect((await get(VIDEO_ID, { scopes: ['generations:write'] })).status).toBe(403);
    expect((await call(getVideo, { pathParameters, query: { wait: ['1'] } })).status).toBe(400);
    expect(upstream.requests).toEqual([]);
  });

  test('is the only read of a video', async () => {
    request.given();

    expect((await call(getGeneration, { pathParameters: { requestId: VIDEO_ID } })).status).toBe(404);
  });
});

describe('POST /callbacks/{provider}/{requestId}/{token}', () => {
  const token = createHmac('sha256', 'secret').update(VIDEO_ID).digest('hex');
  const receive = (pathParameters = {}, event = {}) =>
    call(receiveCallback, {
      headers: {},
      pathParameters: { provider: 'modelstudio', requestId: VIDEO_ID, token, ...pathParameters },
      ...event,
    });

  test('answers 200 without a key, and asks the provider, whatever its body says', async () => {
    request.given().waiting({ taskToken: 'token-1', waitingSince: now.toISOString() });
    executions.wait('token-1');

    for (const body of [undefined, '{', { id: 'cgt-1', status: 'succeeded' }]) {
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
  ])('answers 404 to one that is not ours: %j', async (forged) => {
    request.given();

    expect(await receive(forged)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    expect(upstream.requests).toEqual([]);
    expect(request.wait()).toBeUndefined();
  });

  test('answers 503 while the provider cannot be asked, so that it comes again', async () => {
    request.given();
    upstream.answer(500, { code: 'InternalError' });

    expect(await receive()).toMatchObject({
      status: 503,
      headers: { 'Retry-After': '5' },
      body: { error: { code: 'temporarily_unavailable' } },
    });
  });

  test('answers 200 to one that is late', async () => {
    request.given({ status: 'failed' });

    expect((await receive()).status).toBe(200);
    expect(upstream.requests).toEqual([]);
  });
});
