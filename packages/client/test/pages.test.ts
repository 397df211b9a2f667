import { afterAll, describe, expect, test } from '@jest/globals';
import { GenerationClient } from '../src/index.ts';
import { FaultyServer, hangUp } from './server.ts';

const server = await new FaultyServer().start();
afterAll(() => server.close());
const client = new GenerationClient({ baseUrl: server.url, apiKey: 'gsk_test' });

const idsFrom = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `img_${count - index}`);

/** Serves a list of ids, newest first, by pages; `before` runs before each page is cut. */
const serve = (ids: string[], before: () => void = () => undefined): void => {
  server.answer(({ path }, response) => {
    before();
    const { searchParams } = new URL(path, server.url);
    const [page, pageSize] = [Number(searchParams.get('page')), Number(searchParams.get('pageSize') ?? 20)];
    const items = ids.slice((page - 1) * pageSize, page * pageSize).map((requestId) => ({ requestId }));
    response.end(JSON.stringify({ items, page, pageSize, hasMore: page * pageSize < ids.length }));
  });
};
const collect = async (list: AsyncIterable<{ requestId: string }>): Promise<string[]> => {
  const ids: string[] = [];
  for await (const { requestId } of list) ids.push(requestId);
  return ids;
};

describe('a list', () => {
  test('awaited is its first page, or the one asked for', async () => {
    serve(idsFrom(45));

    expect(await client.listImages()).toMatchObject({ page: 1, pageSize: 20, hasMore: true });
    expect((await client.listImages({ page: 3 })).items.map(({ requestId }) => requestId)).toEqual(
      idsFrom(5),
    );
    expect(server.seen).toHaveLength(2);
  });

  test('iterated is every item, with a call for each page', async () => {
    serve(idsFrom(120));

    expect(await collect(client.listImages({ pageSize: 50 }))).toEqual(idsFrom(120));
    expect(server.seen).toHaveLength(3);
  });

  test('by model goes on where a search stopped, with the same filters', async () => {
    const NEXT = '2026-11-20T09:00:00.001Z';
    server.answer(({ path }, response) => {
      const { searchParams } = new URL(path, server.url);
      const [page, createdBefore] = [Number(searchParams.get('page')), searchParams.get('createdBefore')];
      const answer = createdBefore
        ? { items: [{ requestId: `vid_${3 - page}` }], hasMore: page === 1 }
        : { items: [{ requestId: 'vid_3' }], hasMore: true, nextCreatedBefore: NEXT };
      response.end(JSON.stringify({ ...answer, page, pageSize: 20 }));
    });

    expect(await collect(client.listVideos({ model: 'xW3.0s', include: 'input' }))).toEqual([
      ...['vid_3', 'vid_2', 'vid_1'],
    ]);
    const query = '/v1/videos?model=xW3.0s&include=input&page=';
    expect(server.seen.map(({ path }) => decodeURIComponent(path))).toEqual([
      ...[`${query}1`, `${query}1&createdBefore=${NEXT}`, `${query}2&createdBefore=${NEXT}`],
    ]);
  });

  test('gives each of 120 once while 30 are created meanwhile', async () => {
    const ids = idsFrom(120);
    let created = 0;
    serve(ids, () => {
      if (server.seen.length === 1) return;
      for (let more = 0; more < 6 && created < 30; more += 1) {
        created += 1;
        ids.unshift(`img_${120 + created}`);
      }
    });

    expect(await collect(client.listImages())).toEqual(idsFrom(120));
    expect(created).toBe(30);
  });

  test('stops asking when the loop stops', async () => {
    serve(idsFrom(120));

    expect(await client.listImages().toArray({ limit: 20 })).toHaveLength(20);
    expect(await client.listImages().toArray({ limit: 0 })).toEqual([]);
    expect(server.seen).toHaveLength(1);
    expect(await client.listImages().toArray({ limit: 1_000 })).toHaveLength(120);
  });

  test('may be asked for two items at once, and reads the page once', async () => {
    serve(idsFrom(3));
    const items = client.listImages()[Symbol.asyncIterator]();

    const given = await Promise.all([items.next(), items.next(), items.next(), items.next()]);

    expect(given.map(({ value }) => value?.requestId)).toEqual([...idsFrom(3), undefined]);
    expect(server.seen).toHaveLength(1);
  });

  test('that is empty ends', async () => {
    serve([]);

    expect(await collect(client.listImages())).toEqual([]);
  });

  test('repeats a page whose answer was lost', async () => {
    serve(idsFrom(2));
    const whole = { requestId: 'img_1' };
    server.answer(
      hangUp,
      (_seen, response) =>
        void response.end(JSON.stringify({ items: [whole], page: 1, pageSize: 20, hasMore: false })),
    );

    expect(await collect(client.listImages())).toEqual(['img_1']);
  });
});
