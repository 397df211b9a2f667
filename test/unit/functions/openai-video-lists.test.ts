import { beforeEach, describe, expect, test } from '@jest/globals';
import type { VideoRequest } from '../../../core/requests/request-rules.ts';
import { requestKey } from '../../../core/table/keys.ts';
import { toInstant } from '../../../core/time.ts';
import { handler as videos } from '../../../functions/api/openai-videos.ts';
import { anImageRequest, aVideoRequest, putRequest, REQUEST_ID } from '../builders/entities.ts';
import { aRequestId } from '../builders/request-ids.ts';
import { RouteWorld } from '../builders/route-world.ts';

const world = new RouteWorld();
const { memory } = world;
beforeEach(() => world.reset());

const given = (at: Date, overrides: Partial<VideoRequest> = {}): string => {
  const requestId = aRequestId(at, 'vid');
  putRequest(memory, aVideoRequest({ requestId, createdAt: toInstant(at), ...overrides }));
  return requestId;
};
/** So many videos, oldest first. */
const several = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => given(new Date(world.now.getTime() - (count - index) * 1000)));

describe('GET /openai/v1/videos', () => {
  const list = (query: Record<string, string[]> = {}) =>
    world.call(videos, { resource: '/openai/v1/videos', method: 'GET', query });
  const listed = async (query: Record<string, string[]> = {}) =>
    (await list(query)).body.data.map(({ id }: { id: string }) => id);
  test.each(['0', '101', '1000', '', '-1', '+5', '1e1', '0x10', '2.5', ' 5', '5 ', '1_0', '٣', 'ten'])(
    'takes no limit of %j',
    async (limit) => {
      const { status, body } = await list({ limit: [limit] });

      expect([status, body.error.param, body.error.message]).toEqual([
        ...[400, 'limit', "'limit' must be from 1 to 100"],
      ]);
    },
  );

  test.each([
    ['1', 1],
    ['007', 7],
    ['100', 100],
    [undefined, 20],
  ])('takes a limit of %s: %d videos', async (limit, count) => {
    several(101);

    const { body } = await list(limit === undefined ? {} : { limit: [limit] });

    expect([body.data.length, body.has_more]).toEqual([count, true]);
  });

  test('says whether there are more, and the first and last id, by which the next page is found', async () => {
    const [oldest, middle, newest] = several(3);

    expect((await list({ limit: ['2'] })).body).toMatchObject({
      ...{ object: 'list', has_more: true, first_id: newest, last_id: middle },
    });
    expect((await list({ limit: ['2'], after: [middle ?? ''] })).body).toMatchObject({
      ...{ has_more: false, first_id: oldest, last_id: oldest },
    });
    expect((await list({ after: [oldest ?? ''] })).body).toEqual({
      ...{ object: 'list', data: [], has_more: false, first_id: null, last_id: null },
    });
  });

  test('is newest first, and oldest first on request', async () => {
    const ids = several(3);

    expect(await listed({ order: ['asc'] })).toEqual(ids);
    expect(await listed({ order: ['desc'] })).toEqual(ids.toReversed());
    expect(await listed()).toEqual(ids.toReversed());
    expect(await listed({ order: ['asc'], after: ids.slice(0, 1) })).toEqual(ids.slice(1));
  });

  test.each([
    ['order', 'oldest'],
    ['order', 'DESC'],
    ['order', ''],
    ['after', REQUEST_ID],
    ['after', 'vid_1'],
    ['after', ''],
  ])('refuses %s=%j by its name', async (name, value) => {
    const { status, body } = await list({ [name]: [value] });

    expect([status, body.error.param]).toEqual([400, name]);
  });

  test("has the account's own videos alone, and no images", async () => {
    const [own] = several(1);
    given(world.now, { accountId: 'acc_01JD4KXQ8M0000000000000009' });
    putRequest(memory, anImageRequest({ requestId: aRequestId(world.now) }));

    expect(await listed()).toEqual([own]);
  });

  test('leaves out a video that cannot be shown', async () => {
    const [oldest, broken, newest] = several(3);
    memory.patch(requestKey(broken ?? ''), { resolution: undefined });

    expect(await listed()).toEqual([newest, oldest]);
  });
});
