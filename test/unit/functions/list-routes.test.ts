import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ImageRequest } from '../../../core/requests/request-rules.ts';
import { handler as listEndUsers } from '../../../functions/api/list-end-users.ts';
import { handler as listGenerations } from '../../../functions/api/list-generations.ts';
import { handler as listVideos } from '../../../functions/api/list-videos.ts';
import { NOW } from '../builders/clocks.ts';
import { anImageRequest, EMAIL, putRequest } from '../builders/entities.ts';
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

test('GET /v1/videos filters by models of videos alone', async () => {
  const { status, body } = await call(listVideos, { model: ['xSD4.5'] });

  expect([status, body.error.fields]).toEqual([400, { model: 'is not a video model' }]);
});

describe('GET /v1/end-users', () => {
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
