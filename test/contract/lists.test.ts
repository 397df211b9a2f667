import { beforeAll, describe, expect, test } from '@jest/globals';
import { wrongFields } from './support/answers.ts';
import { type AnyRecord, type Caller, newCaller, read, sharedService } from './support/client.ts';
import { fetchFile } from './support/files.ts';
import { failed, type ListPage, succeeded, withoutUrls } from './support/resources.ts';
import { anUnfilmedVideo, finishedVideo, videoPath } from './support/videos.ts';

const [ADA, BOB] = ['ada@example.com', 'bob@example.com'];

let caller: Caller;
let other: Caller;
/** Newest first. */
let all: AnyRecord[];
beforeAll(async () => {
  const service = await sharedService();
  [caller, other] = await Promise.all([newCaller(service), newCaller(service)]);
  const made: AnyRecord[] = [];
  // Created in sequence, with different creation times.
  for (const make of [succeeded, failed, failed]) {
    made.push(await make(caller, { endUserEmail: ADA }), await make(caller, { endUserEmail: BOB }));
  }
  all = made.toReversed();
  await succeeded(other, { endUserEmail: ADA });
});

const ids = (records: AnyRecord[]) => records.map(({ requestId }) => requestId);
const list = async (query: Record<string, string> = {}, by = caller): Promise<ListPage<AnyRecord>> => {
  const { status, body } = await by.get<ListPage<AnyRecord>>(`/v1/generations?${new URLSearchParams(query)}`);
  expect(status).toBe(200);
  return body;
};

describe('The list of generations', () => {
  test('has all requests of the caller and no others, newest first, on pages of 20', async () => {
    const page = await list();

    expect(page).toEqual({ items: expect.any(Array), page: 1, pageSize: 20, hasMore: false });
    expect(ids(page.items)).toEqual(ids(all));
    expect((await list({}, other)).items).toHaveLength(1);
  });

  test('shows each record as a read does, with working URLs', async () => {
    const { items } = await list();

    const reads = await Promise.all(items.map(({ requestId }) => read(caller, requestId)));
    expect(items.map(withoutUrls)).toEqual(reads.map(withoutUrls));
    const urls = items.flatMap(({ images = [] }) => images.map(({ url }) => url));
    expect(urls).toHaveLength(2);
    for (const url of urls) expect((await fetchFile(url)).status).toBe(200);
  });

  // Each filter and all pages are tested in test/unit/functions/list-routes.test.ts and core/requests.
  test('has exactly the matching ones by every filter at once, page by page', async () => {
    const expected = all.filter(({ endUserEmail, status }) => endUserEmail === BOB && status === 'failed');
    const { createdAt = '' } = all.at(-1) ?? {};
    const query = { endUserEmail: ' Bob@Example.COM ', status: 'failed', createdAfter: createdAt };

    const pages = await Promise.all(['1', '2', '3'].map((page) => list({ ...query, page, pageSize: '1' })));

    expect(expected).toHaveLength(2);
    expect(pages.flatMap(({ items }) => ids(items))).toEqual(ids(expected));
    expect(pages.map(({ hasMore }) => hasMore)).toEqual([true, false, false]);
  });
});

// The rule of each parameter is tested in test/unit/functions.
test.each([
  ['createdAfter=2026-01-01T00:00:00+02:00', ['createdAfter']], // An unencoded plus sign is a space.
  ['__proto__=1&constructor=2&status=failed&status=succeeded', ['__proto__', 'constructor', 'status']],
  [
    'page=0&pageSize=51&status=x&endUserEmail=x&createdAfter=x&sort=asc',
    [...['createdAfter', 'endUserEmail', 'page', 'pageSize', 'sort', 'status']],
  ],
])('A list with %s is refused, and every wrong parameter is named', async (query, fields) => {
  expect(wrongFields(await caller.get(`/v1/generations?${query}`))).toEqual(fields);
});

// Its filters and pages are those of the list of generations: test/unit/functions/list-routes.test.ts.
test('The list of videos has the videos of the caller as reads show them, with what was asked if that is included', async () => {
  const own = await newCaller(caller.service);
  await failed(own);
  const image = 'https://example.com/first.png';
  const body = { model: 'xW2.7S', durationSec: 3, image: `${image}?sig=secret` };
  const first = await finishedVideo(own, anUnfilmedVideo());
  const second = await finishedVideo(own, anUnfilmedVideo(body));
  const asked = { referenceImages: [], referenceVideos: [], referenceAudios: [] };
  const input = { resolution: '720p', durationSec: 3, image, ...asked };

  const page = { page: 1, pageSize: 20, hasMore: false };
  expect((await own.get('/v1/videos')).body).toEqual({ items: [second, first], ...page });
  const listed = await own.get('/v1/videos?include=input&pageSize=1');
  expect(listed.body).toEqual({ items: [{ ...second, input }], ...page, pageSize: 1, hasMore: true });
  expect((await own.get(`${videoPath(second.requestId)}?include=input`)).body).toEqual({ ...second, input });
});
