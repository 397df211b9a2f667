import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { closeDeletion } from '../../../../core/requests/deleted-requests.ts';
import {
  type DueItem,
  type DuePosition,
  findNewestDue,
  listDue,
  requestIdOf,
  reschedule,
} from '../../../../core/requests/due-items.ts';
import { markProcessing } from '../../../../core/requests/requests.ts';
import {
  type DueList,
  deletedRequestKey,
  dueListing,
  duePartition,
  requestKey,
} from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { aCaller } from '../../builders/callers.ts';
import { atSeconds } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anEndUser,
  anImageRequest,
  aVideoRequest,
  putEndUser,
  putRequest,
} from '../../builders/entities.ts';
import { aRequestId } from '../../builders/request-ids.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
beforeEach(() => memory.reset());

const at = (seconds: number): string => atSeconds(seconds).toISOString();
/** Puts a queued request created at this second, due 60 s later; returns its id. */
const given = (seconds: number, prefix: 'img' | 'vid' = 'img'): string => {
  const createdAt = atSeconds(seconds);
  const requestId = aRequestId(createdAt, prefix);
  const own = { requestId, createdAt: createdAt.toISOString() };
  putRequest(memory, prefix === 'img' ? anImageRequest(own) : aVideoRequest(own));
  return requestId;
};
const due = async (seconds: number, list: DueList = 'START') =>
  (await listDue(list, at(seconds), 1000)).items;
const ids = (items: DueItem[]): string[] =>
  items.flatMap(({ work }) =>
    'requestId' in work ? work.requestId : 'removalId' in work ? work.removalId : [],
  );
const stored = (requestId: string) => memory.get(requestKey(requestId));

describe('what is due', () => {
  test('is every request listed until now, of either kind and any account, longest due first', async () => {
    const expected = [given(-2), given(-1, 'vid'), given(0)];
    given(0.001);
    await aCaller(memory);
    putEndUser(memory, anEndUser());
    putRequest(memory, anImageRequest({ requestId: aRequestId(atSeconds(-9)), status: 'failed' }));

    expect(ids(await due(45))).toEqual(expected);
    expect(await due(42.999)).toEqual([]);
  });

  test('is merged from all partitions by time', async () => {
    const expected = Array.from({ length: 100 }, (_, index) => given(99 - index)).reverse();

    expect(ids(await due(1000))).toEqual(expected);
  });

  test('has deletions with work left', async () => {
    const requestId = aRequestId(atSeconds(-1000));
    const mark = { accountId: ACCOUNT_ID, requestId, deletedAt: at(0) };
    const dueKey = dueListing('CHECK', requestId, at(60));
    memory.put(deletedRequestKey(ACCOUNT_ID, requestId), { ...dueKey, ...mark });

    expect(await due(59.999, 'CHECK')).toEqual([]);
    expect(await due(60, 'CHECK')).toEqual([
      {
        list: 'CHECK',
        work: { kind: 'deletion', accountId: ACCOUNT_ID, requestId },
        key: deletedRequestKey(ACCOUNT_ID, requestId),
        dueKey,
      },
    ]);

    await closeDeletion(mark);
    expect(await due(60, 'CHECK')).toEqual([]);
  });

  test('of a deletion leaves nothing of its work on the mark once it is closed', async () => {
    const requestId = aRequestId(atSeconds(-1000));
    const key = deletedRequestKey(ACCOUNT_ID, requestId);
    const kept = { accountId: ACCOUNT_ID, requestId, deletedAt: at(0), accounted: { status: 'failed' } };
    const work = { files: ['outputs/1'], deletionId: 'del_1', routes: ['fal/one'], model: 'xQI3Pro' };
    memory.put(key, { ...kept, ...work, ...dueListing('CHECK', requestId, at(60)) });

    await closeDeletion(kept);
    expect(memory.get(key)).toEqual({ ...key, ...kept });

    memory.remove(key);
    await closeDeletion(kept);
    expect(memory.get(key)).toBeUndefined();
  });

  test('latest is found among all partitions, and only there', async () => {
    expect(await findNewestDue('START')).toEqual([]);
    for (let index = 1; index <= 40; index++) {
      given(-index);
      const newest = given(index);

      expect((await findNewestDue('START')).flatMap(requestIdOf)).toEqual([newest]);
    }
    expect(await findNewestDue('CHECK')).toEqual([]);
  });

  test('costs one query a partition, whatever is listed for later', async () => {
    for (let count = 0; count < 200; count++) given(1000);

    await listDue('CHECK', at(0), 1000);

    const queries = memory.client.commandCalls(QueryCommand).map(({ args }) => args[0].input);
    for (const query of queries) expect(query).toMatchObject({ IndexName: 'GSI1', Limit: 1000 });
    expect(queries.map((query) => query.ExpressionAttributeValues?.[':partition'])).toEqual(
      [0, 1, 2, 3].map((shard) => duePartition('CHECK', shard)),
    );
  });
});

describe('a list that is read in pages', () => {
  /** The ids on each page. */
  const pages = async (limit: number): Promise<string[][]> => {
    const found: string[][] = [];
    for (let from: DuePosition | undefined; ; ) {
      const page = await listDue('START', at(1000), limit, from);
      found.push(ids(page.items));
      if (page.next.length === 0) return found;
      from = JSON.parse(JSON.stringify(page.next));
    }
  };

  test('gives every item once, and on each page the longest due of every partition', async () => {
    const expected = Array.from({ length: 100 }, (_, index) => given(99 - index));

    const found = await pages(2);

    expect(found.flat().toSorted()).toEqual(expected.toSorted());
    expect(found[0]).toHaveLength(8);
    for (const page of found) expect(page).toEqual(page.toSorted());
  });

  test('asks again only those partitions that may hold more', async () => {
    const [first = ''] = [given(0), given(1)];
    const { next } = await listDue('START', at(1000), 1);
    memory.client.resetHistory();

    expect(await listDue('START', at(1000), 1, next)).toMatchObject({ items: [] });

    expect(next.length).toBeLessThanOrEqual(2);
    expect(next.map(({ after }) => after.PK)).toContain(requestKey(first).PK);
    expect(memory.calls()).toEqual({ QueryCommand: next.length });
  });

  test('ends with a page that says so', async () => {
    expect(await listDue('EXPIRE', at(1000), 250)).toEqual({ items: [], next: [] });
  });
});

describe('listing a due item for later', () => {
  const found = async () => {
    const requestId = given(0);
    const [item] = await due(60);
    return { requestId, item: item as DueItem };
  };

  test('returns it under its new due key, with what is stored', async () => {
    const { requestId, item } = await found();

    const dueKey = dueListing('CHECK', requestId, at(360));
    expect(await reschedule(item, 'CHECK', at(360))).toEqual({
      due: { ...item, list: 'CHECK', dueKey },
      item: { ...stored(requestId) },
    });
    expect(stored(requestId)).toMatchObject(dueKey);
  });

  test('gives it to one of several', async () => {
    const { item } = await found();

    const taken = await Promise.all([1, 2, 3].map(() => reschedule(item, 'START', at(180))));

    expect(taken.filter((each) => each !== undefined)).toHaveLength(1);
  });

  test.each<[string, (requestId: string) => unknown]>([
    ['was listed by another time', (id) => memory.patch(requestKey(id), { GSI1SK: at(61) })],
    [
      'was listed elsewhere by the same time',
      (id) => memory.patch(requestKey(id), { ...dueListing('CHECK', id, String(stored(id)?.GSI1SK)) }),
    ],
    ['was listed elsewhere', (id) => markProcessing(anImageRequest({ requestId: id }), at(60))],
    ['was taken off', (id) => memory.patch(requestKey(id), { GSI1PK: undefined, GSI1SK: undefined })],
    ['was removed', (id) => memory.remove(requestKey(id))],
  ])('changes nothing when it %s', async (_, change) => {
    const { requestId, item } = await found();
    await change(requestId);
    const before = structuredClone(stored(requestId));

    expect(await reschedule(item, 'START', at(180))).toBeUndefined();
    expect(stored(requestId)).toEqual(before);
  });
});
