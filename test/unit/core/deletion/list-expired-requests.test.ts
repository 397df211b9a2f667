import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import {
  type ExpiredPage,
  FIRST_PAGE,
  isAnyExpired,
  listExpiredRequests,
} from '../../../../core/deletion/list-expired-requests.ts';
import { DUE_SHARDS, dueListing, duePartition, requestKey } from '../../../../core/table/keys.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import { anImageRequest, putRequest } from '../../builders/entities.ts';
import { aRequestId } from '../../builders/request-ids.ts';
import { memory } from '../../fakes/fresh-table.ts';

const at = (seconds: number): string => atSeconds(seconds).toISOString();
const clockAt = (seconds: number) => new StoppedClock(atSeconds(seconds));
/** Puts a succeeded request that expires at this second; returns its id. */
const given = (seconds: number, prefix: 'img' | 'vid' = 'img'): string => {
  const requestId = aRequestId(atSeconds(seconds - 1_000), prefix);
  putRequest(memory, anImageRequest({ requestId, status: 'succeeded', expiresAt: at(seconds) }));
  memory.patch(requestKey(requestId), dueListing('EXPIRE', requestId, at(seconds)));
  return requestId;
};
/** Puts expired requests into one partition, a few more than a page takes; returns their ids. */
const fill = (shard: number, count = 1_010): string[] => {
  const ids = Array.from({ length: count }, (_, index) => given(shard * 2_500 + index - 90_000));
  for (const requestId of ids) memory.patch(requestKey(requestId), { GSI1PK: duePartition('EXPIRE', shard) });
  return ids;
};
const idsOn = ({ batches }: ExpiredPage): string[] => batches.flatMap(({ requestIds }) => requestIds);
/** A state's data as Step Functions hands it on. */
const handedOn = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

describe('a page of expired requests', () => {
  test('holds them in batches of 100, images and videos, longest expired first', async () => {
    const expected = Array.from({ length: 250 }, (_, index) =>
      given(index - 300, index % 2 === 0 ? 'img' : 'vid'),
    );

    const page = await listExpiredRequests(FIRST_PAGE, clockAt(0));

    expect(page.batches.map(({ requestIds }) => requestIds.length)).toEqual([100, 100, 50]);
    expect(idsOn(page)).toEqual(expected);
    expect(page).toMatchObject({ cursor: { pages: 1, position: [] }, next: 'stop' });
  });

  test('holds those that expired 5 s ago, when they have by every clock', async () => {
    const expired = given(-5);
    given(-4.999);

    expect(idsOn(await listExpiredRequests(FIRST_PAGE, clockAt(0)))).toEqual([expired]);
  });

  test('takes up to 1,000 of each partition, and the next one goes on after them', async () => {
    const ids = fill(3, 2_400);

    const pages: ExpiredPage[] = [];
    for (let cursor = FIRST_PAGE; ; cursor = handedOn((pages.at(-1) as ExpiredPage).cursor)) {
      pages.push(await listExpiredRequests(cursor, clockAt(0)));
      if (pages.at(-1)?.next === 'stop') break;
    }

    expect(pages.map((page) => idsOn(page).length)).toEqual([1_000, 1_000, 400]);
    expect(pages.flatMap(idsOn)).toEqual(ids);
    const queries = memory.client.commandCalls(QueryCommand).map(({ args }) => args[0].input);
    const asked = queries.map(({ ExpressionAttributeValues }) => ExpressionAttributeValues?.[':partition']);
    expect(asked.slice(DUE_SHARDS)).toEqual(['DUE#EXPIRE#3', 'DUE#EXPIRE#3']);
  });

  test('is the 25th at the latest: what is left is for another execution', async () => {
    fill(0);

    expect(await listExpiredRequests({ pages: 23 }, clockAt(0))).toMatchObject({ next: 'list' });
    expect(await listExpiredRequests({ pages: 24 }, clockAt(0))).toMatchObject({ next: 'stop' });
  });

  test('with all its ids is less than 60 % of what a state may hold, 256 KB', async () => {
    for (let shard = 0; shard < DUE_SHARDS; shard++) fill(shard);

    const page = await listExpiredRequests(FIRST_PAGE, clockAt(0));

    expect(idsOn(page)).toHaveLength(4_000);
    expect(page.batches).toHaveLength(40);
    expect(JSON.stringify(page).length).toBeLessThan(256 * 1024 * 0.6);
  });
});

describe('whether any request has expired', () => {
  test('is answered by one query of one item for each partition', async () => {
    given(-1_000);

    expect(await isAnyExpired(clockAt(0))).toBe(true);

    const queries = memory.client.commandCalls(QueryCommand).map(({ args }) => args[0].input);
    expect(queries).toHaveLength(4);
    for (const query of queries) expect(query).toMatchObject({ IndexName: 'GSI1', Limit: 1 });
  });

  test('is no while each has time left, by any clock', async () => {
    given(-4.999);

    expect(await isAnyExpired(clockAt(0))).toBe(false);
    expect(await isAnyExpired(clockAt(0.001))).toBe(true);
  });
});
