import '../../builders/environment.ts';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { closeDeletion } from '../../../../core/requests/deleted-requests.ts';
import { listOpenWork } from '../../../../core/requests/open-work.ts';
import { closeWork } from '../../../../core/requests/requests.ts';
import { deletedRequestKey, openWorkListing, requestKey } from '../../../../core/table/keys.ts';
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

/** Puts a queued request there that was created at a second; answers its id. */
const given = (seconds: number, prefix: 'img' | 'vid' = 'img'): string => {
  const createdAt = atSeconds(seconds);
  const requestId = aRequestId(createdAt, prefix);
  const own = { requestId, createdAt: createdAt.toISOString() };
  putRequest(memory, prefix === 'img' ? anImageRequest(own) : aVideoRequest(own));
  return requestId;
};
const list = async (seconds: number): Promise<string[]> => {
  const ids: string[] = [];
  for await (const { requestId } of listOpenWork(atSeconds(seconds).toISOString())) ids.push(requestId);
  return ids;
};
const partitionOf = (requestId: string): string => openWorkListing(requestId, '').GSI1PK;

describe('the open work', () => {
  test('is every request that is not over, of either kind and any account, and nothing else', async () => {
    const ids = [given(0), given(1, 'vid'), given(2)];
    await aCaller(memory);
    putEndUser(memory, anEndUser());
    putRequest(memory, anImageRequest({ requestId: aRequestId(atSeconds(0)), status: 'failed' }));

    expect((await list(100)).sort()).toEqual(ids.sort());
  });

  test('is what was created before an instant, to the millisecond', async () => {
    const ids = [given(0), given(29.999)];
    given(30);
    given(31);

    expect((await list(30)).sort()).toEqual(ids.sort());
    expect(await list(0)).toEqual([]);
  });

  test('is listed oldest first in each of its partitions, each to its end', async () => {
    memory.itemsPerQuery = 2;
    const ids = Array.from({ length: 50 }, (_, index) => given(49 - index)).reverse();

    const listed = await list(100);

    expect([...listed].sort()).toEqual([...ids].sort());
    for (const partition of new Set(ids.map(partitionOf))) {
      const of = (all: string[]) => all.filter((id) => partitionOf(id) === partition);
      expect(of(listed)).toEqual(of(ids));
    }
  });

  test('has requests that ended until what follows is done', async () => {
    const requestId = given(0);
    memory.patch(requestKey(requestId), { status: 'succeeded' });
    expect(await list(1)).toEqual([requestId]);

    await closeWork(requestId);
    expect(await list(1)).toEqual([]);
  });

  test('lists deletions with work left, by deletion time', async () => {
    const requestId = aRequestId(atSeconds(-1000));
    const mark = { accountId: ACCOUNT_ID, requestId, deletedAt: atSeconds(0).toISOString() };
    memory.put(deletedRequestKey(ACCOUNT_ID, requestId), {
      ...openWorkListing(requestId, mark.deletedAt),
      ...mark,
    });

    expect(await list(0)).toEqual([]);
    const found = await listOpenWork(atSeconds(1).toISOString()).next();
    expect(found.value).toEqual({ kind: 'deletion', accountId: ACCOUNT_ID, requestId });

    await closeDeletion(mark);
    expect(await list(1)).toEqual([]);
  });

  test('is read from an index, partition by partition, only as far as consumed', async () => {
    given(0);
    const first = await listOpenWork(atSeconds(1).toISOString()).next();

    expect(first.done).toBe(false);
    for (const { args } of memory.client.commandCalls(QueryCommand)) {
      expect(args[0].input).toMatchObject({ IndexName: 'GSI1' });
    }
    expect(memory.client.commandCalls(QueryCommand).length).toBeLessThanOrEqual(8);
  });
});
