import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { MAX_SEARCHED } from '../../../../core/requests/request-lists.ts';
import { NOW } from '../../builders/clocks.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { given, idsOf, list, many, pageOf } from './listed-requests.ts';

describe('a list by model', () => {
  const RARE = 'xZI1.0Pro';
  const recordsRead = () =>
    memory.client
      .commandCalls(BatchGetCommand)
      .map(({ args }) => args[0].input.RequestItems?.table?.Keys?.length ?? 0);

  test('finds a request of any age, in twice as many records each time', async () => {
    const oldest = given(-1, { model: RARE });
    many(500);

    expect(await pageOf({ model: RARE }, 1, 2)).toEqual([[oldest], false]);
    expect(recordsRead()).toEqual([20, 20, 40, 80, 100, 100, 100, 41]);
  });

  test('reads no more records than fill the page', async () => {
    const ids = many(90);

    expect(await pageOf({ model: 'xQI3Pro' }, 2, 20)).toEqual([ids.slice(20, 40), true]);
    expect(recordsRead()).toEqual([41]);
  });

  test('of as many requests as are searched is complete', async () => {
    const oldest = given(-1, { model: RARE });
    many(MAX_SEARCHED - 1);

    expect(await list({ model: RARE })).toEqual({
      items: [expect.objectContaining({ requestId: oldest })],
      ...{ page: 1, pageSize: 20, hasMore: false },
    });
  });

  test('stops after as many requests, and goes on from there without a gap or a repetition', async () => {
    const expected: string[] = [];
    // Two in each millisecond, so that the search stops between two of the same.
    for (let count = 0; count < 2 * MAX_SEARCHED + 300; count++) {
      const model = count % 10 === 1 ? RARE : 'xQI3Pro';
      const id = given(Math.floor(count / 2) + (count < 1_301 ? 0 : 1), { model });
      if (model === RARE) expected.push(id);
    }

    const found: string[] = [];
    const calls: number[] = [];
    for (let createdBefore: string | undefined; ; ) {
      memory.client.resetHistory();
      const page = await list({ model: RARE, createdBefore }, 1, 50);
      found.push(...page.items.map(({ requestId }) => requestId));
      calls.push(recordsRead().reduce((sum, count) => sum + count, 0));
      if (page.nextCreatedBefore === undefined && !page.hasMore) break;
      createdBefore = page.nextCreatedBefore ?? page.items.at(-1)?.createdAt;
    }

    expect(new Set(found)).toEqual(new Set(expected));
    expect(found).toHaveLength(expected.length);
    expect(Math.max(...calls)).toBeLessThanOrEqual(MAX_SEARCHED);
  });

  test('says where it stopped when it found nothing, and refuses the page after that', async () => {
    given(-1, { model: RARE });
    const ids = many(MAX_SEARCHED + 5);
    const last = NOW.getTime() + 5_000;
    const nextCreatedBefore = new Date(last + 1).toISOString();

    expect(await list({ model: RARE })).toEqual({
      ...{ items: [], page: 1, pageSize: 20, hasMore: true, nextCreatedBefore },
    });
    expect(recordsRead().reduce((sum, count) => sum + count, 0)).toBe(MAX_SEARCHED);
    await expect(list({ model: RARE }, 2)).rejects.toMatchObject({
      fields: { page: expect.stringContaining(`createdBefore ${nextCreatedBefore}`) },
    });
    expect(await idsOf({ model: RARE, createdBefore: nextCreatedBefore })).toHaveLength(1);
    expect(ids).toHaveLength(MAX_SEARCHED + 5);
  });

  test('has pages of all of its requests up to the last one that is searched', async () => {
    const ids = many(MAX_SEARCHED + 5);

    const { items, hasMore, nextCreatedBefore } = await list({ model: 'xQI3Pro' }, 20, 50);
    expect(items.map(({ requestId }) => requestId)).toEqual(ids.slice(950, 999));
    expect([hasMore, nextCreatedBefore]).toEqual([true, new Date(NOW.getTime() + 5_001).toISOString()]);
    expect(await idsOf({ model: 'xQI3Pro', createdBefore: nextCreatedBefore })).toEqual(ids.slice(999));
  });
});
