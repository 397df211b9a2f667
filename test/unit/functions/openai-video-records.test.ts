import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Scope } from '../../../core/accounts/api-keys.ts';
import type { VideoRequest } from '../../../core/requests/request-rules.ts';
import { requestKey } from '../../../core/table/keys.ts';
import { toInstant } from '../../../core/time.ts';
import { handler as videos } from '../../../functions/api/openai-videos.ts';
import { aLambdaContext, anApiEvent } from '../builders/api-events.ts';
import { aCaller } from '../builders/callers.ts';
import { aStoredVideo, aVideoRequest, putRequest, REQUEST_ID, VIDEO_ID } from '../builders/entities.ts';
import { type ApiEvent, RouteWorld } from '../builders/route-world.ts';

const LIST = '/openai/v1/videos';
const ONE = `${LIST}/{requestId}`;
const CONTENT = `${ONE}/content`;

const world = new RouteWorld();
const { memory } = world;
beforeEach(() => world.reset());

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  body: {
    id: string;
    status: string;
    error: { code: string; message: string; param: string | null };
  } & Record<string, unknown>;
}

/** Calls a route of videos. An answer without a body reads as an empty one. */
const call = async (event: ApiEvent, scopes?: readonly Scope[]): Promise<Answer> => {
  const { headers } = await aCaller(memory, scopes && { scopes });
  const {
    statusCode,
    headers: answered = {},
    body,
  } = await videos(anApiEvent({ headers, ...event }), aLambdaContext());
  return { status: statusCode, headers: answered, body: JSON.parse(body || '{}') };
};
const of = (resource: string, method = 'GET', requestId = VIDEO_ID): ApiEvent => ({
  ...{ resource, method, pathParameters: { requestId } },
});

const given = (overrides: Partial<VideoRequest> = {}): string => {
  const video = aVideoRequest(overrides);
  putRequest(memory, video);
  return video.requestId;
};
/** What a video has that was made an hour ago and is kept for another. */
const made = () => ({
  ...{ status: 'succeeded' as const, outputs: [aStoredVideo()] },
  ...{ finishedAt: world.inSeconds(-3_600), expiresAt: world.inSeconds(3_600) },
});
const failed = () => ({
  ...{ status: 'failed' as const, finishedAt: world.inSeconds(-3_600) },
  error: { code: 'provider_error' as const, message: 'It failed.' },
});

describe('GET /openai/v1/videos/{id}', () => {
  test.each<[string, () => Partial<VideoRequest>, object]>([
    ['a queued video', () => ({}), { status: 'queued', progress: 0, completed_at: null, error: null }],
    ['one in progress', () => ({ status: 'processing' }), { status: 'in_progress', progress: 0 }],
    [
      'a video that is made',
      made,
      {
        status: 'completed',
        progress: 100,
        completed_at: expect.any(Number),
        size: '1920x1080',
        error: null,
      },
    ],
    [
      'one that expired, which was made',
      () => ({ ...made(), expiresAt: world.inSeconds(-1) }),
      { status: 'completed', progress: 100, completed_at: expect.any(Number) },
    ],
    [
      'one that failed, which is never complete',
      failed,
      {
        ...{ status: 'failed', progress: 0, completed_at: null },
        error: { code: 'provider_error', message: 'It failed.' },
      },
    ],
  ])('shows %s, and when to look again while there is something to come', async (_, overrides, shown) => {
    given(overrides());

    const { status, headers, body } = await call(of(ONE));

    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ id: VIDEO_ID, object: 'video', ...shown }),
    ]);
    const isUnfinished = ['queued', 'in_progress'].includes(body.status);
    expect(headers['openai-poll-after-ms']).toBe(isUnfinished ? '5000' : undefined);
  });

  test('shows the times of a video in seconds since 1970', async () => {
    given({ ...made(), createdAt: toInstant(new Date(1_790_000_000_999)) });

    const { body } = await call(of(ONE));

    expect(body).toMatchObject({
      created_at: 1_790_000_000,
      completed_at: world.now.getTime() / 1000 - 3_600,
      expires_at: world.now.getTime() / 1000 + 3_600,
    });
  });

  test.each<[string, Partial<VideoRequest>, string]>([
    ['its resolution and ratio', { ratio: '9:16' }, '1080x1920'],
    ['its resolution alone where its inputs decide the shape', { ratio: 'adaptive' }, '1080p'],
    ['the file, which may have another shape', { ratio: '9:16', outputs: [aStoredVideo()] }, '1920x1080'],
    [
      'what was asked for where the file was not measured',
      { ratio: '9:16', outputs: [{ index: 0, objectKey: 'outputs/a.mp4' }] },
      '1080x1920',
    ],
    ...(['width', 'height'] as const).map((side): [string, Partial<VideoRequest>, string] => [
      `its resolution alone where the ${side} of its file is not known`,
      { ratio: 'adaptive', outputs: [aStoredVideo({ [side]: undefined })] },
      '1080p',
    ]),
  ])('says the size by %s', async (_, overrides, size) => {
    given(overrides);

    expect((await call(of(ONE))).body.size).toBe(size);
  });
});

describe('A video', () => {
  const READS = [of(ONE), of(CONTENT)];
  const ALL = [...READS, of(ONE, 'DELETE')];

  test.each(ALL)('of another account is 404: $method $resource', async (event) => {
    given({ ...made(), accountId: 'acc_01JD4KXQ8M0000000000000009' });

    const { status, body } = await call(event);

    expect([status, body.error.code]).toEqual([404, 'not_found']);
    expect(memory.get(requestKey(VIDEO_ID))).toBeDefined();
  });

  test.each(ALL)('that never was is 404: $method $resource', async (event) => {
    expect(await call(event)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  });

  test.each(ALL)('has no id of an image or of anything else: $method $resource', async (event) => {
    for (const requestId of [REQUEST_ID, 'vid_1', '%20']) {
      memory.client.resetHistory();
      const { status, body } = await call({ ...event, pathParameters: { requestId } });

      expect([status, body.error.message]).toEqual([404, 'There is no such video.']);
      expect(memory.calls()).not.toHaveProperty('DeleteCommand');
    }
  });

  test.each<[ApiEvent, Scope]>([
    ...READS.map((event): [ApiEvent, Scope] => [event, 'generations:read']),
    [{ resource: LIST, method: 'GET' }, 'generations:read'],
    [of(ONE, 'DELETE'), 'generations:write'],
  ])('is refused to a key without the scope: %j needs %s', async (event, scope) => {
    given(made());
    const others = (['generations:read', 'generations:write'] as const).filter((other) => other !== scope);

    expect((await call(event, others)).status).toBe(403);
    expect((await call(event, [scope])).status).toBeLessThan(400);
  });
});

describe('GET /openai/v1/videos/{id}/content', () => {
  test.each([{}, { query: { variant: ['video'] } }])('leads to the signed file: %j', async (more) => {
    given(made());

    const { status, headers } = await call({ ...of(CONTENT), ...more });

    expect(status).toBe(302);
    expect(headers.Location).toMatch(new RegExp(`/outputs/${VIDEO_ID}/0\\.mp4\\?.*Signature=`));
  });

  test.each(['thumbnail', 'spritesheet', '', 'Video'])('has no variant %j', async (variant) => {
    given(made());

    const { status, body } = await call({ ...of(CONTENT), query: { variant: [variant] } });

    expect([status, body.error.param]).toEqual([400, 'variant']);
  });

  test.each<[string, () => Partial<VideoRequest>, string]>([
    ['queued', () => ({}), 'is queued'],
    ['in progress', () => ({ status: 'processing' }), 'is in_progress'],
    ['failed', failed, 'is failed'],
    ['expired', () => ({ ...made(), expiresAt: world.inSeconds(-1) }), 'has expired'],
    ['without its file', () => ({ ...made(), outputs: [{ index: 0 }] }), 'could not be stored'],
    ['without an output', () => ({ ...made(), outputs: [] }), 'could not be stored'],
  ])('is 404 for a video that is %s, and says so', async (_, overrides, said) => {
    given(overrides());

    const { status, body } = await call(of(CONTENT));

    expect([status, body.error.message]).toEqual([404, expect.stringContaining(said)]);
  });
});

describe('DELETE /openai/v1/videos/{id}', () => {
  test.each([made, failed])('deletes a video that has ended, once', async (overrides) => {
    given(overrides());

    expect(await call(of(ONE, 'DELETE'))).toMatchObject({
      ...{ status: 200, body: { id: VIDEO_ID, object: 'video.deleted', deleted: true } },
    });
    expect(memory.get(requestKey(VIDEO_ID))).toBeUndefined();
    expect((await call(of(ONE))).status).toBe(404);
    expect((await call(of(ONE, 'DELETE'))).status).toBe(404);
  });

  test.each(['queued', 'processing'] as const)('leaves a video that is %s: 409', async (status) => {
    given({ status });

    const { status: answered, body } = await call(of(ONE, 'DELETE'));

    expect([answered, body.error.code]).toEqual([409, 'conflict']);
    expect(memory.get(requestKey(VIDEO_ID))).toMatchObject({ status });
  });
});
