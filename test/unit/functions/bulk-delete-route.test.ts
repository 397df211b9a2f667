import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { ImageRequest } from '../../../core/requests/request-rules.ts';
import { requestKey } from '../../../core/table/keys.ts';
import { handler as bulkDelete } from '../../../functions/api/bulk-delete-generations.ts';
import { atSeconds, NOW } from '../builders/clocks.ts';
import { anImageRequest, aStoredOutput, putRequest } from '../builders/entities.ts';
import { RouteWorld } from '../builders/route-world.ts';
import { stopTime } from '../builders/stop-time.ts';
import { cancelled, tableError } from '../builders/table-errors.ts';
import '../fakes/fresh-bucket.ts';

const world = new RouteWorld();
const { memory } = world;
jest.spyOn(Math, 'random').mockReturnValue(0);
beforeEach(() => {
  world.reset();
  stopTime(NOW);
});
const call = world.call.bind(world);
const idOf = (index: number): string => `img_01JD4KXQ8M${String(index).padStart(16, '0')}`;
const given = (requestId: string, overrides: Partial<ImageRequest> = {}): void =>
  putRequest(
    memory,
    anImageRequest({
      requestId,
      status: 'succeeded',
      outputs: [aStoredOutput(0, { objectKey: `outputs/${requestId}` })],
      expiresAt: atSeconds(100).toISOString(),
      ttl: NOW.getTime() / 1000 + 1000,
      ...overrides,
    }),
  );

describe('POST /v1/generations/bulk-delete', () => {
  const remove = (body: unknown) => call(bulkDelete, { body });

  test('returns the outcome of each distinct id, in the given order', async () => {
    given(idOf(1));
    given(idOf(2), { status: 'queued' });
    given(idOf(3), { expiresAt: NOW.toISOString() });
    given(idOf(4), { accountId: 'acc_01JD4KXQ8M0000000000000009' });
    given(idOf(5), { status: 'processing' });
    const ids = ['x', idOf(5), idOf(1), idOf(2), idOf(1), idOf(3), idOf(9), idOf(4), 'x', idOf(2), ''];

    const { status, body } = await remove({ requestIds: ids });

    expect(status).toBe(200);
    expect(body).toStrictEqual({
      requested: 8,
      deleted: 2,
      removedObjects: 1,
      conflicts: [idOf(5), idOf(2)],
      notFound: ['x', idOf(9), idOf(4), ''],
    });
    expect(memory.get(requestKey(idOf(4)))).toBeDefined();
  });

  /** Runs before the transactions that delete this request, with the number of the attempt, from 1. */
  const onDeletion = (of: string, act: (attempt: number) => void) => {
    let attempts = 0;
    memory.beforeTransaction = () => {
      const items = memory.transactions.at(-1)?.TransactItems ?? [];
      if (items.some(({ Delete }) => Delete?.Key?.PK === requestKey(of).PK)) act(++attempts);
    };
  };

  test.each([
    ['the table stays busy', cancelled('ThrottlingError', 'None')],
    ['the table does not answer', tableError('TimeoutError')],
  ])('lists an id among the conflicts when %s, and deletes the others', async (_, error) => {
    for (const index of [1, 2, 3]) given(idOf(index));
    onDeletion(idOf(2), () => {
      throw error;
    });

    const { status, body } = await remove({ requestIds: [idOf(1), idOf(2), idOf(3)] });

    expect(status).toBe(200);
    expect(body).toStrictEqual({
      requested: 3,
      deleted: 2,
      removedObjects: 2,
      conflicts: [idOf(2)],
      notFound: [],
    });
    expect(memory.get(requestKey(idOf(2)))).toBeDefined();
  });

  test('does not look up malformed ids, up to 50 characters', async () => {
    const requestIds = ['', 'x', `img_${'0'.repeat(46)}`, 'img_01jd4kxq8m0000000000000001'];

    expect((await remove({ requestIds })).body).toMatchObject({ requested: 4, notFound: requestIds });
    expect(memory.calls()).toEqual({ UpdateCommand: 1, GetCommand: 1 });
  });

  test('accepts 0 to 200 ids, but not 201', async () => {
    const ids = Array.from({ length: 201 }, (_, index) => idOf(index));
    const nothing = { requested: 0, deleted: 0, removedObjects: 0, conflicts: [], notFound: [] };

    expect((await remove({ requestIds: [] })).body).toStrictEqual(nothing);
    expect((await remove({ requestIds: ids.slice(0, 200) })).body.notFound).toEqual(ids.slice(0, 200));
    expect(await remove({ requestIds: ids })).toMatchObject({
      status: 400,
      body: { error: { fields: { requestIds: 'must hold at most 200 ids' } } },
    });
    expect((await remove({ requestIds: Array(201).fill('x') })).status).toBe(400);
  });

  test.each<[unknown, Record<string, string>]>([
    [undefined, { requestIds: 'is required' }],
    ['{', { body: 'must be JSON' }],
    [{}, { requestIds: 'is required' }],
    [{ requestIds: 'x' }, { requestIds: 'must be an array of request ids' }],
    [{ requestIds: null }, { requestIds: 'must be an array of request ids' }],
    [{ requestIds: ['x', 7] }, { 'requestIds[1]': 'must be a string' }],
    [{ requestIds: [], ids: [] }, { ids: 'is not a known field' }],
  ])('refuses %j', async (body, fields) => {
    expect(await remove(body)).toMatchObject({ status: 400, body: { error: { fields } } });
  });
});
