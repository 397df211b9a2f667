import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { StoredRequest } from '../../../core/requests/request-rules.ts';
import { requestKey } from '../../../core/table/keys.ts';
import { handler as deleteGeneration } from '../../../functions/api/delete-generation.ts';
import { handler as getGeneration } from '../../../functions/api/get-generation.ts';
import { handler as getVideo } from '../../../functions/api/get-video.ts';
import { handler as listGenerations } from '../../../functions/api/list-generations.ts';
import { handler as receiveCallback } from '../../../functions/api/receive-callback.ts';
import {
  anImageRequest,
  aStoredOutput,
  aVideoRequest,
  putRequest,
  REQUEST_ID,
  VIDEO_ID,
} from '../builders/entities.ts';
import { type ApiEvent, RouteWorld } from '../builders/route-world.ts';
import { bucket } from '../fakes/fresh-bucket.ts';

const world = new RouteWorld();
const { memory } = world;
beforeEach(() => world.reset());
const given = (request: StoredRequest): void => putRequest(memory, request);
const by = (requestId: string, more: ApiEvent = {}): ApiEvent => ({
  ...{ pathParameters: { requestId }, ...more },
});
const ended = () => ({
  ...{ status: 'succeeded' as const, outputs: [aStoredOutput(0), aStoredOutput(1)] },
  ...{ finishedAt: world.inSeconds(-60), expiresAt: world.inSeconds(3_600), costThousandths: 4_000 },
});

describe('DELETE /v1/generations/{requestId}', () => {
  const remove = (requestId: string, more: ApiEvent = {}) =>
    world.call(deleteGeneration, by(requestId, more));

  test('removes an image or a video with its files, once, and says how many', async () => {
    for (const request of [anImageRequest(ended()), aVideoRequest(ended())]) {
      given(request);
      for (const { objectKey } of ended().outputs) bucket.put(String(objectKey));

      expect(await remove(request.requestId)).toMatchObject({
        ...{ status: 200, body: { requestId: request.requestId, deleted: true, removedObjects: 2 } },
      });
      expect(memory.get(requestKey(request.requestId))).toBeUndefined();
      expect(bucket.objects.size).toBe(0);
      expect((await remove(request.requestId)).status).toBe(404);
    }
  });

  test.each(['queued', 'processing'] as const)('refuses a request that is %s', async (status) => {
    given(anImageRequest({ status }));

    expect(await remove(REQUEST_ID)).toMatchObject({
      ...{ status: 409, body: { error: { code: 'conflict' } } },
    });
    expect(memory.get(requestKey(REQUEST_ID))).toMatchObject({ status });
  });

  test.each(['x', 'img_1', 'led_01JD4KXQ8M0000000000000001'])(
    'finds nothing by %s, and reads nothing for it',
    async (requestId) => {
      expect(await remove(requestId)).toMatchObject({
        ...{ status: 404, body: { error: { message: 'There is no such generation.' } } },
      });
      // The caller's account alone.
      expect(memory.calls()).toEqual({ UpdateCommand: 1, GetCommand: 1 });
    },
  );

  test('takes no query, so that nothing is deleted by a call that means something else', async () => {
    given(anImageRequest(ended()));

    const { status, body } = await remove(REQUEST_ID, { query: { dryRun: ['true'] } });
    expect([status, body.error.fields]).toEqual([400, { dryRun: 'is not a known field' }]);
    expect(memory.get(requestKey(REQUEST_ID))).toBeDefined();
  });
});

describe.each([
  ['GET /v1/generations/{requestId}', getGeneration, 'generation', anImageRequest, aVideoRequest],
  ['GET /v1/videos/{requestId}', getVideo, 'video', aVideoRequest, anImageRequest],
] as const)('%s', (_, handler, name, aRequest, another) => {
  const get = (requestId: string, query: ApiEvent['query'] = {}) =>
    world.call(handler, by(requestId, { query }));

  test('returns its own kind alone', async () => {
    const [own, other] = [aRequest(ended()), another(ended())];
    given(own);
    given(other);

    expect((await get(own.requestId)).body).toMatchObject({ requestId: own.requestId });
    for (const requestId of [other.requestId, 'x', '%20'])
      expect(await get(requestId)).toMatchObject({
        ...{ status: 404, body: { error: { message: `There is no such ${name}.` } } },
      });
  });

  test('reads no item for an id of another kind', async () => {
    await get(another().requestId);

    expect(memory.calls()).toEqual({ UpdateCommand: 1, GetCommand: 1 });
  });

  test('shows the input where that is asked for, and refuses any other query', async () => {
    const { requestId } = aRequest(ended());
    given(aRequest(ended()));

    expect((await get(requestId)).body).not.toHaveProperty('input');
    expect((await get(requestId, { include: ['input'] })).body).toHaveProperty('input');
    for (const [field, value] of Object.entries({ include: ['output'], fields: ['input'] }))
      expect((await get(requestId, { [field]: value })).status).toBe(400);
  });
});

test('GET /v1/generations shows inputs where these are asked for', async () => {
  given(anImageRequest(ended()));
  const list = async (query: ApiEvent['query'] = {}) =>
    (await world.call(listGenerations, { query })).body.items[0];

  expect(await list()).not.toHaveProperty('input');
  expect(await list({ include: ['input'] })).toHaveProperty('input');
});

describe('POST /callbacks/{provider}/{requestId}/{token}', () => {
  const token = createHmac('sha256', 'secret').update(`modelark\n${VIDEO_ID}`).digest('hex');
  const callBack = (parameters: object = {}) =>
    world.call(receiveCallback, {
      ...{ resource: '/callbacks/{provider}/{requestId}/{token}', method: 'POST', headers: {} },
      ...{ body: '{}', pathParameters: { provider: 'modelark', requestId: VIDEO_ID, token, ...parameters } },
    });

  test('with the right token is 200, also when the request has ended', async () => {
    given(aVideoRequest(ended()));

    expect(await callBack()).toMatchObject({ status: 200, body: {} });
  });

  test.each([{ token: 'forged' }, { provider: 'fal' }, { requestId: REQUEST_ID }])(
    'is 404 with %j',
    async (parameters) => {
      given(aVideoRequest(ended()));

      expect((await callBack(parameters)).status).toBe(404);
    },
  );
});
