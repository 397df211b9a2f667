import '../builders/environment.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ImageRequest } from '../../../core/requests/request-rules.ts';
import { handler as listEndUsers } from '../../../functions/api/list-end-users.ts';
import { handler as listGenerations } from '../../../functions/api/list-generations.ts';
import { handler as listVideos } from '../../../functions/api/list-videos.ts';
import { atSeconds, NOW } from '../builders/clocks.ts';
import {
  anEndUser,
  anImageRequest,
  aStoredOutput,
  aVideoRequest,
  EMAIL,
  putEndUser,
  putRequest,
} from '../builders/entities.ts';
import { aRequestId } from '../builders/request-ids.ts';
import { type Handler, RouteWorld } from '../builders/route-world.ts';
import { stopTime } from '../builders/stop-time.ts';

const world = new RouteWorld();
const { memory } = world;
beforeEach(() => {
  world.reset();
  stopTime(NOW);
});

const call = (handler: Handler, query: Record<string, string[]> = {}) => world.call(handler, { query });
const given = (overrides: Partial<ImageRequest> = {}, requestId = aRequestId(NOW)): string => {
  putRequest(memory, anImageRequest({ requestId, ...overrides }));
  return requestId;
};

test.each<[string, Handler]>([
  ['GET /v1/generations', listGenerations],
  ['GET /v1/videos', listVideos],
  ['GET /v1/end-users', listEndUsers],
])('%s has the format of the contract', async (_, handler) => {
  const { status, body } = await call(handler);

  expect([status, Object.entries(body)]).toEqual([
    200,
    Object.entries({ items: [], page: 1, pageSize: 20, hasMore: false }),
  ]);
  expect((await call(handler, { pageSize: ['51'], page: ['0'] })).body.error.fields).toEqual({
    page: 'must be at least 1',
    pageSize: 'must be at most 50',
  });
});

describe('GET /v1/generations', () => {
  test('leaves out a request that lacks what its status stands for, and shows the others', async () => {
    const first = given();
    given({ status: 'failed', finishedAt: NOW.toISOString() });
    const last = given();

    const { status, body } = await call(listGenerations);

    expect(status).toBe(200);
    expect(body.items.map(({ requestId }: { requestId: string }) => requestId).toSorted()).toEqual(
      [first, last].toSorted(),
    );
  });

  const ids = async (query: Record<string, string[]>) =>
    (await call(listGenerations, query)).body.items.map(({ requestId }: ImageRequest) => requestId);

  test('returns the same records as reading each one, signed URLs included', async () => {
    const queued = given();
    const requestId = aRequestId(NOW);
    const succeeded = given(
      {
        status: 'succeeded',
        outputs: [aStoredOutput(0, { objectKey: `outputs/${requestId}/0.png` })],
        finishedAt: NOW.toISOString(),
        expiresAt: atSeconds(100).toISOString(),
        costThousandths: 4_000,
        ttl: NOW.getTime() / 1000 + 1000,
      },
      requestId,
    );

    const { body } = await call(listGenerations, { pageSize: ['2'] });

    expect(body).toMatchObject({ page: 1, pageSize: 2, hasMore: false });
    expect(body.items).toMatchObject([
      { requestId: succeeded, status: 'succeeded', cost: 4, images: [{ id: `${succeeded}_0` }] },
      { requestId: queued, status: 'queued', pollUrl: `https://api.example.com/v1/generations/${queued}` },
    ]);
    expect(new URL(body.items[0].images[0].url).searchParams.get('Expires')).toBe(
      String(NOW.getTime() / 1000 + 100),
    );
  });

  test('takes three round trips to the table: the caller, the index, then the records', async () => {
    given();
    await call(listGenerations);

    expect(memory.calls()).toEqual({ UpdateCommand: 1, GetCommand: 1, QueryCommand: 1, BatchGetCommand: 1 });
  });

  test('filters by every parameter, alone and combined', async () => {
    const first = given();
    const second = given({ endUserEmail: 'bob@example.com' });
    const third = given({ status: 'processing' });

    expect(await ids({ endUserEmail: [' ADA@example.com '] })).toEqual([third, first]);
    expect(await ids({ status: ['queued'] })).toEqual([second, first]);
    expect(await ids({ status: ['queued'], endUserEmail: [EMAIL] })).toEqual([first]);
    expect(await ids({ createdAfter: ['2026-11-20T09:59:59.999+01:00'] })).toEqual([third, second, first]);
    expect(await ids({ createdAfter: ['2026-11-20T09:00:00.000Z'] })).toEqual([]);
    expect(await ids({ createdAfter: ['2026-11-20'] })).toEqual([third, second, first]);
    expect(await ids({ createdAfter: ['2026-11-20T11:00+0200'] })).toEqual([]);
    expect(await ids({ createdAfter: ['2026-11-21'] })).toEqual([]);
    expect(await ids({ createdBefore: ['2026-11-20T09:00:00.001Z'] })).toEqual([third, second, first]);
    expect(await ids({ createdBefore: ['2026-11-20T09:00:00.000Z'] })).toEqual([]);
    expect(await ids({ createdBefore: ['2026-11-20T09:00:00.000000Z'] })).toEqual([]);
    expect(await ids({ createdBefore: ['2026-11-20T09:00:00.000001Z'] })).toEqual([third, second, first]);
    expect(await ids({ createdAfter: ['2026-11-20T09:00:00.000999Z'] })).toEqual([]);
    expect(await ids({ model: ['xQI3Pro'], status: ['queued'] })).toEqual([second, first]);
    expect(await ids({ model: ['xSD4.5'] })).toEqual([]);
  });

  test.each([
    [{ status: ['done'] }, 'status'],
    [{ status: [''] }, 'status'],
    [{ status: ['queued', 'failed'] }, 'status'],
    [{ endUserEmail: ['ada'] }, 'endUserEmail'],
    [{ endUserEmail: [''] }, 'endUserEmail'],
    [{ createdAfter: ['2026-11-20T09:00:00'] }, 'createdAfter'],
    [{ createdAfter: ['2026-02-30T09:00:00Z'] }, 'createdAfter'],
    [{ createdAfter: ['2026-02-30'] }, 'createdAfter'],
    [{ createdAfter: ['2026-11-20T09:00:00.000 01:00'] }, 'createdAfter'],
    [{ createdAfter: ['1795165200000'] }, 'createdAfter'],
    [{ createdBefore: ['yesterday'] }, 'createdBefore'],
    [{ model: ['xQ'] }, 'model'],
    [{ model: ['xW3.0s'] }, 'model'],
    [{ include: ['output'] }, 'include'],
    [{ include: [''] }, 'include'],
    [{ email: ['ada'] }, 'email'],
  ])('refuses %j', async (query, field) => {
    const { status, body } = await call(listGenerations, query as unknown as Record<string, string[]>);

    expect([status, Object.keys(body.error.fields)]).toEqual([400, [field]]);
    expect(memory.calls()).not.toHaveProperty('QueryCommand');
  });

  test.each(['1969-12-31T23:59:59Z', '0000-01-01T00:00:00Z', '1970-01-01T00:00:00+23:59'])(
    'takes an instant before every other: %s',
    async (createdAfter) => {
      const requestId = given();

      expect(await ids({ createdAfter: [createdAfter] })).toEqual([requestId]);
    },
  );
});

describe('GET /v1/videos', () => {
  test('has the videos and no images, as reading each one, by the same filters', async () => {
    given();
    const first = aRequestId(NOW, 'vid');
    putRequest(memory, aVideoRequest({ requestId: first }));
    const second = aRequestId(atSeconds(1), 'vid');
    putRequest(memory, aVideoRequest({ requestId: second, model: 'xW2.7S', status: 'processing' }));
    const ids = async (query: Record<string, string[]>) =>
      (await call(listVideos, query)).body.items.map(({ requestId }: { requestId: string }) => requestId);

    expect((await call(listVideos)).body.items).toMatchObject([
      { requestId: second, status: 'processing' },
      { requestId: first, status: 'queued', pollUrl: `https://api.example.com/v1/videos/${first}` },
    ]);
    expect(await ids({ status: ['queued'] })).toEqual([first]);
    expect(await ids({ model: ['xW2.7S'] })).toEqual([second]);
    expect(await ids({ createdBefore: [atSeconds(1).toISOString()] })).toEqual([first]);
    expect((await call(listVideos, { model: ['xSD4.5'] })).body.error.fields).toEqual({
      model: 'is not a video model',
    });
  });
});

test('include=input adds what was asked to each record of a list', async () => {
  given({ size: '2K', images: 3 });
  putRequest(memory, aVideoRequest({ requestId: aRequestId(NOW, 'vid') }));

  const query = { include: ['input'] };
  expect((await call(listGenerations, query)).body.items).toMatchObject([{ input: { size: '2K', n: 3 } }]);
  expect((await call(listVideos, query)).body.items).toMatchObject([{ input: { durationSec: 5 } }]);
  for (const handler of [listGenerations, listVideos])
    expect((await call(handler)).body.items[0]).not.toHaveProperty('input');
});

describe('GET /v1/end-users', () => {
  const emails = async (query: Record<string, string[]>) =>
    (await call(listEndUsers, query)).body.items.map(({ email }: { email: string }) => email);

  test('returns each in the format of the contract', async () => {
    putEndUser(memory, anEndUser({ spentThousandths: 8_125, deletingAt: NOW.toISOString() }));

    expect((await call(listEndUsers)).body.items).toStrictEqual([
      {
        email: EMAIL,
        createdAt: '2026-11-10T09:00:00.000Z',
        lastActiveAt: '2026-11-19T09:00:00.000Z',
        totalRequests: 2,
        totalXTokensSpent: 8.125,
        blockedAt: null,
      },
    ]);
  });

  test('filters by blocked and by part of the address', async () => {
    putEndUser(memory, anEndUser());
    putEndUser(memory, anEndUser({ email: 'bob@example.com', blockedAt: NOW.toISOString() }));

    expect(await emails({ blocked: ['true'] })).toEqual(['bob@example.com']);
    expect(await emails({ blocked: ['false'] })).toEqual([EMAIL]);
    expect(await emails({ email: ['ADA@'] })).toEqual([EMAIL]);
    expect(await emails({ email: ['ADA@'], blocked: ['true'] })).toEqual([]);
  });

  test.each([
    [{ blocked: ['yes'] }, 'blocked'],
    [{ blocked: ['TRUE'] }, 'blocked'],
    [{ blocked: ['1'] }, 'blocked'],
    [{ blocked: [''] }, 'blocked'],
    [{ email: ['x'.repeat(255)] }, 'email'],
    [{ status: ['queued'] }, 'status'],
  ])('refuses %j', async (query, field) => {
    const { status, body } = await call(listEndUsers, query as unknown as Record<string, string[]>);

    expect([status, Object.keys(body.error.fields)]).toEqual([400, [field]]);
  });
});
